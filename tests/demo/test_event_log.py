"""Spark's event log is read up to the moment at which the driver was told to end."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from event_log import read_events

QUERY = "org.apache.spark.sql.streaming.StreamingQueryListener$QueryProgressEvent"


def task(at_ms: int, reason: str = "Success") -> dict[str, Any]:
    info = {"Task ID": at_ms, "Executor ID": "2", "Finish Time": at_ms}
    return {"Event": "SparkListenerTaskEnd", "Task Info": info, "Task End Reason": {"Reason": reason}}


def executor(what: str, at_ms: int, **more: str) -> dict[str, Any]:
    return {"Event": f"SparkListenerExecutor{what}", "Timestamp": at_ms, "Executor ID": "2", **more}


def progress(batch_id: int, **durations: int) -> dict[str, Any]:
    about = {"batchId": batch_id, "timestamp": "2026-01-01T00:00:01.500Z", "durationMs": durations}
    return {"Event": QUERY, "progress": {**about, "sources": [{"numInputRows": 7}, {"numInputRows": 3}]}}


EVENTS = [
    executor("Added", 1_000),
    task(2_000),
    progress(0, addBatch=400, triggerExecution=500),
    progress(0, triggerExecution=3),
    task(3_000, "FetchFailed"),
    executor("Removed", 4_000, **{"Removed Reason": "Executor decommission."}),
    task(9_000, "ExecutorLostFailure"),
]


def write(folder: pathlib.Path, name: str = "app-1") -> None:
    (folder / name).write_text("".join(json.dumps(event) + "\n" for event in EVENTS) + '{"Event": "Spark')


def test_reads_what_happened_in_time(tmp_path: pathlib.Path) -> None:
    write(tmp_path, "app-1.inprogress")
    events = read_events(tmp_path, until_s=5.0)
    assert events.tasks == 2
    assert events.failed_tasks == ("task 3000 on executor 2: FetchFailed",)
    assert events.added == ("2",)
    assert events.removed == {"2": "Executor decommission."}
    (batch,) = events.batches
    assert (batch.batch_id, batch.duration_s, batch.rows) == (0, 0.5, 10)
    assert batch.ended_at_s - batch.started_at_s == pytest.approx(0.5)


def test_later_failures_are_read_when_they_are_in_time(tmp_path: pathlib.Path) -> None:
    write(tmp_path)
    assert len(read_events(tmp_path, until_s=10.0).failed_tasks) == 2


@pytest.mark.parametrize("count", [0, 2])
def test_one_log_is_needed(tmp_path: pathlib.Path, count: int) -> None:
    for number in range(count):
        write(tmp_path, f"app-{number}")
    with pytest.raises(ValueError, match=f"{count} event logs"):
        read_events(tmp_path, until_s=5.0)
