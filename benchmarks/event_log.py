"""What Spark's event log tells of a run: batches, their tasks, executors. Plain Spark and StreamJob write the same.

Nothing of ours is asked, so that all sides of a comparison are told alike.
"""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

STATEFUL = ("StateStoreRDD", "StateStoreAwareZipPartitionsRDD")
"""Names that Spark's RDDs with state have in the log; a stage with one of them has key groups."""
PROGRESS = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """A batch of a query that ran to its end. `state_rows` are those of all its operators then."""

    query: str
    number: int
    began_s: float
    took_s: float
    rows: int
    state_rows: int

    @property
    def ended_s(self) -> float:
        """Since the epoch."""
        return self.began_s + self.took_s


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """A task that succeeded. `stage` counts the stages with state of its batch, from the first one on; None for others.

    `last` tells whether its stage is the batch's last one, `locality` is Spark's level. `took_s` is how long it had its
    slot, `run_s` how long it ran, `cpu_s` that of the executor's thread, without Python's. Rows and bytes are what it
    fetched of shuffles, bytes from other executors and from its own; `fetch_wait_s` is how long it waited.
    """

    query: str
    batch: int
    stage: int | None
    last: bool
    partition: int
    executor: str
    locality: str
    took_s: float
    run_s: float
    cpu_s: float
    fetch_wait_s: float
    rows: int
    remote_bytes: int
    local_bytes: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Life:
    """From when to when an executor was there; `until_s` is None for one that stayed."""

    executor: str
    from_s: float
    until_s: float | None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """All of it, in order; `failed_tasks` are counted alone."""

    batches: tuple[Batch, ...]
    tasks: tuple[Task, ...]
    executors: tuple[Life, ...]
    failed_tasks: int


Event = Mapping[str, Any]


def read(folder: pathlib.Path) -> Told:
    """The log of a run, alone in its folder; a last line that was cut short is left out.

    Raises ValueError where there is no log, or more than one: logs of two runs name other stages by the same numbers.
    """
    files = [file for file in folder.iterdir() if not file.name.startswith(".")]
    if len(files) != 1:
        raise ValueError(f"folder: {len(files)} event logs in {folder}, one is needed.")
    return told(_events(files[0].read_text(encoding="utf-8").splitlines()))


def told(events: Iterable[Event]) -> Told:
    """From events in the log's order."""
    batches: list[Batch] = []
    starts: list[Event] = []
    ends: list[Event] = []
    lives: dict[str, Life] = {}
    for event in events:
        kind = event["Event"]
        if kind == PROGRESS:
            batches += _batch(_progress(event))
        elif kind == "SparkListenerJobStart":
            starts.append(event)
        elif kind == "SparkListenerTaskEnd":
            ends.append(event)
        elif kind == "SparkListenerExecutorAdded":
            name = event["Executor ID"]
            lives[name] = Life(executor=name, from_s=event["Timestamp"] / 1000.0, until_s=None)
        elif kind == "SparkListenerExecutorRemoved" and event["Executor ID"] in lives:
            name = event["Executor ID"]
            lives[name] = dataclasses.replace(lives[name], until_s=event["Timestamp"] / 1000.0)
    good = [one for one in ends if one["Task End Reason"]["Reason"] == "Success"]
    return Told(
        batches=tuple(batches),
        tasks=tuple(_tasks(good, _stages(starts))),
        executors=tuple(lives.values()),
        failed_tasks=len(ends) - len(good),
    )


def moves(tasks: Iterable[Task]) -> Iterator[tuple[str, int]]:
    """Query and batch of each key group's task on another executor than that of the batch before."""
    before: dict[tuple[str, int, int], str] = {}
    for task in sorted(tasks, key=lambda one: one.batch):
        if task.stage is not None:
            place = (task.query, task.stage, task.partition)
            if before.get(place, task.executor) != task.executor:
                yield task.query, task.batch
            before[place] = task.executor


def _events(lines: Sequence[str]) -> Iterator[Event]:
    for text in lines:
        try:
            yield json.loads(text)
        except ValueError:
            continue


def _progress(event: Event) -> Mapping[str, Any]:
    progress = event["progress"]
    found: Mapping[str, Any] = json.loads(progress) if isinstance(progress, str) else progress
    return found


def _batch(progress: Mapping[str, Any]) -> Iterator[Batch]:
    """Progress without a batch is of a query that waits for data."""
    took_ms = progress["durationMs"]
    if "addBatch" in took_ms:
        yield Batch(
            query=progress["id"],
            number=progress["batchId"],
            began_s=datetime.datetime.fromisoformat(progress["timestamp"]).timestamp(),
            took_s=took_ms["triggerExecution"] / 1000.0,
            rows=sum(source["numInputRows"] for source in progress["sources"]),
            state_rows=sum(operator["numRowsTotal"] for operator in progress["stateOperators"]),
        )


Stage = tuple[str, int, int | None]
"""Query, batch, and which stage with state it is of that batch."""


def _stages(starts: Iterable[Event]) -> dict[int, Stage]:
    """Stages of queries' batches by their number in the log."""
    found: dict[int, Stage] = {}
    counts: dict[tuple[str, int], int] = {}
    for start in starts:
        properties = start.get("Properties") or {}
        query, batch = properties.get("sql.streaming.queryId"), properties.get("streaming.sql.batchId")
        if query is None or batch is None:
            continue
        place = (query, int(batch))
        for info in sorted(start["Stage Infos"], key=lambda one: int(one["Stage ID"])):
            if info["Stage ID"] in found:
                continue
            stateful = any(rdd["Name"] in STATEFUL for rdd in info["RDD Info"])
            found[info["Stage ID"]] = (*place, counts.get(place, 0) if stateful else None)
            counts[place] = counts.get(place, 0) + stateful
    return found


def _tasks(ends: Iterable[Event], stages: Mapping[int, Stage]) -> Iterator[Task]:
    last: dict[tuple[str, int], int] = {}
    for number, (query, batch, _) in stages.items():
        last[query, batch] = max(last.get((query, batch), number), number)
    for end in ends:
        if end["Stage ID"] in stages:
            query, batch, stage = stages[end["Stage ID"]]
            info, spent = end["Task Info"], end["Task Metrics"]
            fetched = spent["Shuffle Read Metrics"]
            yield Task(
                query=query,
                batch=batch,
                stage=stage,
                last=end["Stage ID"] == last[query, batch],
                partition=info["Partition ID"],
                executor=info["Executor ID"],
                locality=info["Locality"],
                took_s=(info["Finish Time"] - info["Launch Time"]) / 1000.0,
                run_s=spent["Executor Run Time"] / 1000.0,
                cpu_s=spent["Executor CPU Time"] / 1e9,
                fetch_wait_s=fetched["Fetch Wait Time"] / 1000.0,
                rows=fetched["Total Records Read"],
                remote_bytes=fetched["Remote Bytes Read"],
                local_bytes=fetched["Local Bytes Read"],
            )
