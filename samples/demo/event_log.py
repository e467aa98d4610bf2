"""What Spark itself recorded of the run: batches, failed tasks, executors that came and went."""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from typing import Any

PROGRESS = "QueryProgressEvent"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One micro-batch. Times are seconds since the epoch, the duration is that of the whole trigger."""

    batch_id: int
    started_at_s: float
    duration_s: float
    rows: int

    @property
    def ended_at_s(self) -> float:
        """When it was committed."""
        return self.started_at_s + self.duration_s


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Events:
    """`removed` maps an executor to the reason that Spark gave for its end."""

    batches: tuple[Batch, ...]
    tasks: int
    failed_tasks: tuple[str, ...]
    added: tuple[str, ...]
    removed: dict[str, str]


def read_events(folder: pathlib.Path, until_s: float) -> Events:
    """Read the one application's log in the folder, up to a moment: the end of the driver breaks tasks off.

    Raises ValueError when there is no log, or more than one.
    """
    logs = [path for path in folder.iterdir() if path.is_file() and path.name.startswith(("app-", "local-"))]
    if len(logs) != 1:
        raise ValueError(f"{folder}: {len(logs)} event logs found, one is needed")
    return read_log(logs[0], until_s)


def read_log(path: pathlib.Path, until_s: float) -> Events:
    """Read one event log, up to a moment."""
    events = [_event(line) for line in path.read_text(encoding="utf-8").splitlines()]
    named = [(_name(event), event) for event in events if event and _at_s(event) <= until_s]
    tasks = [event for name, event in named if name == "SparkListenerTaskEnd"]
    return Events(
        batches=tuple(_batch(event["progress"]) for name, event in named if name == PROGRESS and _ran(event)),
        tasks=len(tasks),
        failed_tasks=tuple(_failure(event) for event in tasks if event["Task End Reason"]["Reason"] != "Success"),
        added=tuple(event["Executor ID"] for name, event in named if name == "SparkListenerExecutorAdded"),
        removed={
            event["Executor ID"]: event["Removed Reason"]
            for name, event in named
            if name == "SparkListenerExecutorRemoved"
        },
    )


def _event(line: str) -> dict[str, Any] | None:
    """None for a last line that the end of the driver cut off."""
    try:
        event: dict[str, Any] = json.loads(line)
    except ValueError:
        return None
    return event


def _name(event: dict[str, Any]) -> str:
    """Without package and outer class."""
    return str(event["Event"]).rpartition(".")[2].rpartition("$")[2]


def _at_s(event: dict[str, Any]) -> float:
    """When it happened, 0.0 for events whose time does not matter here."""
    return float(event.get("Timestamp", event.get("Task Info", {}).get("Finish Time", 0))) / 1000


def _ran(event: dict[str, Any]) -> bool:
    """Progress is reported for idle triggers, too; those add no batch."""
    return "addBatch" in event["progress"]["durationMs"]


def _failure(event: dict[str, Any]) -> str:
    info = event["Task Info"]
    return f"task {info['Task ID']} on executor {info['Executor ID']}: {event['Task End Reason']['Reason']}"


def _batch(progress: dict[str, Any]) -> Batch:
    started = datetime.datetime.fromisoformat(progress["timestamp"])
    return Batch(
        batch_id=progress["batchId"],
        started_at_s=started.timestamp(),
        duration_s=progress["durationMs"]["triggerExecution"] / 1000,
        rows=sum(source["numInputRows"] for source in progress["sources"]),
    )
