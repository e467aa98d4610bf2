"""What Spark's own event log says of a run: bytes that tasks read through shuffles, and where each task ran.

The same for plain Spark and under StreamJob: nothing of ours is asked.
"""

from __future__ import annotations

import collections
import dataclasses
import json
import pathlib
from collections.abc import Iterable, Iterator
from typing import Any

QUERY, BATCH = "sql.streaming.queryId", "streaming.sql.batchId"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One task of a streaming batch; `last` tells whether its stage is the batch's last one."""

    query: str
    batch: int
    stage: int
    partition: int
    executor: str
    host: str
    locality: str
    last: bool
    local_bytes: int
    remote_bytes: int
    fetch_wait_s: float
    run_s: float


def read_tasks(folder: pathlib.Path) -> list[Task]:
    """Every successful task of a batch, from all logs in the folder."""
    lines = (line for file in sorted(folder.iterdir()) for line in file.read_text(encoding="utf-8").splitlines())
    return list(tasks(json.loads(line) for line in lines))


def tasks(events: Iterable[dict[str, Any]]) -> Iterator[Task]:
    """The tasks of the batches among these events, in the order of their ends."""
    batch_of: dict[int, tuple[str, int]] = {}
    last: dict[tuple[str, int], int] = collections.defaultdict(int)
    ended = []
    for event in events:
        if event["Event"] == "SparkListenerJobStart":
            properties = event.get("Properties", {})
            if BATCH in properties and QUERY in properties:
                batch = (str(properties[QUERY]), int(properties[BATCH]))
                for stage in event["Stage IDs"]:
                    batch_of[stage] = batch
                    last[batch] = max(last[batch], stage)
        elif event["Event"] == "SparkListenerTaskEnd" and event["Stage ID"] in batch_of:
            ended.append(event)
    for event in ended:
        if not event["Task Info"]["Failed"] and "Task Metrics" in event:
            yield _task(event, batch_of[event["Stage ID"]], last)


def _task(event: dict[str, Any], batch: tuple[str, int], last: dict[tuple[str, int], int]) -> Task:
    info, metrics = event["Task Info"], event["Task Metrics"]
    read = metrics["Shuffle Read Metrics"]
    return Task(
        query=batch[0],
        batch=batch[1],
        stage=event["Stage ID"],
        partition=info["Index"],
        executor=info["Executor ID"],
        host=info["Host"],
        locality=info["Locality"],
        last=event["Stage ID"] == last[batch],
        local_bytes=read["Local Bytes Read"],
        remote_bytes=read["Remote Bytes Read"],
        fetch_wait_s=read["Fetch Wait Time"] / 1000.0,
        run_s=metrics["Executor Run Time"] / 1000.0,
    )
