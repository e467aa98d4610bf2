"""Spark's event log on paper: batches of a query with a stage without state and one with two key groups."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from benchmarks.event_log import PROGRESS

BATCH_MS, ROWS = 2000, 1000


def progress(number: int, rows: int = ROWS, query: str = "q") -> dict[str, Any]:
    return {
        "Event": PROGRESS,
        "progress": {
            "id": query,
            "batchId": number,
            "timestamp": f"2026-11-25T12:00:{2 * number:02d}.000Z",
            "durationMs": {"addBatch": 1, "triggerExecution": BATCH_MS},
            "sources": [{"numInputRows": rows}],
            "stateOperators": [{"numRowsTotal": 40}],
        },
    }


def begins(stage: int, number: int, query: str = "q") -> dict[str, Any]:
    return {
        "Event": "SparkListenerJobStart",
        "Properties": {"sql.streaming.queryId": query, "streaming.sql.batchId": str(number)},
        "Stage Infos": [
            {"Stage ID": stage + 1, "RDD Info": [{"Name": "StateStoreRDD"}, {"Name": "MapPartitionsRDD"}]},
            {"Stage ID": stage, "RDD Info": [{"Name": "FileScanRDD"}]},
        ],
    }


def ends(stage: int, partition: int, executor: str, took_ms: int, reason: str = "Success") -> dict[str, Any]:
    return {
        "Event": "SparkListenerTaskEnd",
        "Stage ID": stage,
        "Task End Reason": {"Reason": reason},
        "Task Info": {
            "Partition ID": partition,
            "Executor ID": executor,
            "Locality": "PROCESS_LOCAL",
            "Launch Time": 0,
            "Finish Time": took_ms,
        },
        "Task Metrics": {
            "Executor Run Time": took_ms - 100,
            "Executor CPU Time": took_ms * 500_000,
            "Shuffle Read Metrics": {
                "Remote Bytes Read": 3000,
                "Local Bytes Read": 1000,
                "Total Records Read": 50,
                "Fetch Wait Time": 50,
            },
        },
    }


def batches(owners: list[tuple[str, str]]) -> Iterator[dict[str, Any]]:
    """Batches whose key groups 0 and 1 take 0.9 and 0.3 s, by who runs them."""
    for number, (first, second) in enumerate(owners):
        yield begins(10 * number, number)
        yield ends(10 * number, 0, "0", 400)
        yield ends(10 * number + 1, 0, first, 900)
        yield ends(10 * number + 1, 1, second, 300)
        yield progress(number)
