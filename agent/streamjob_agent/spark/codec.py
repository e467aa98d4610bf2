"""The probe's text lines and the agent's values: the only place that knows their fields."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Mapping
from typing import Any

from streamjob_agent import metric_names as names
from streamjob_agent.bridge import (
    BatchEnd,
    Executor,
    GroupUsage,
    Moments,
    Query,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.spread import id_order
from streamjob_agent.wire import GroupKey

_NS = 1e9
_MS = 1e3


def read_usage(text: str) -> Usage:
    """What `Probe.drain` wrote.

    Lines: G key group, S stage, O other tasks, E executor, B batch, W owner given, F counts.
    """
    groups: dict[str, list[GroupUsage]] = {}
    stages: dict[str, list[StageUsage]] = {}
    given: dict[str, dict[GroupKey, str]] = {}
    rows = _rows(text)
    for row in rows:
        if row[0] == "G":
            groups.setdefault(row[1], []).append(_group(row))
        elif row[0] == "S":
            stages.setdefault(row[1], []).append(_stage(row))
        elif row[0] == "W":
            given.setdefault(row[1], {})[GroupKey(operator=int(row[2]), partition=int(row[3]))] = row[4]
    counts = next(row for row in rows if row[0] == "F")
    return Usage(
        groups={query: tuple(sorted(found, key=lambda usage: usage.key)) for query, found in groups.items()},
        batches=tuple(_batch(int(row[1]), json.loads("\t".join(row[2:]))) for row in rows if row[0] == "B"),
        other_busy_s={row[1]: int(row[2]) / _MS for row in rows if row[0] == "O"},
        executor_busy_s={row[1]: int(row[2]) / _MS for row in rows if row[0] == "E"},
        failed_tasks=int(counts[1]),
        longest_stateful_stage_s=None if int(counts[2]) < 0 else int(counts[2]) / _MS,
        stages={query: tuple(found) for query, found in stages.items()},
        longest_task_s=None if int(counts[4]) < 0 else int(counts[4]) / _MS,
        dropped=int(counts[3]),
        given=given,
    )


def _rows(text: str) -> list[list[str]]:
    """Lines end with a line feed alone: other characters that end lines for Python may stand in names of the job's."""
    return [line.split("\t") for line in text.split("\n") if line]


def _group(row: list[str]) -> GroupUsage:
    batches, tasks, firsts, busy_ms, cpu_ns, records, local_bytes, remote_bytes = map(int, row[6:14])
    gc_ms, fetch_ms = map(int, row[14:16])
    state_rows, in_stores, in_heap = (None if int(told) < 0 else int(told) for told in row[16:19])
    return GroupUsage(
        key=GroupKey(operator=int(row[2]), partition=int(row[3])),
        executor_id=row[4],
        counted_on=row[5],
        moments=Moments(
            batches=batches,
            squared_s2=float(row[19]) / _MS**2,
            first_s=float(row[20]) / _MS,
            firsts_squared=int(row[21]),
        ),
        tasks=tasks,
        first_tasks=firsts,
        busy_s=busy_ms / _MS,
        cpu_s=cpu_ns / _NS,
        records=records,
        local_bytes=local_bytes,
        remote_bytes=remote_bytes,
        state_rows=state_rows,
        state_memory_bytes=in_stores if in_heap is None else in_heap,
        state_in_heap=in_heap is not None,
        gc_s=gc_ms / _MS,
        fetch_wait_s=fetch_ms / _MS,
    )


def _stage(row: list[str]) -> StageUsage:
    level, wall_ms, busy_ms, longest_ms, wait_ms = map(int, row[4:9])
    return StageUsage(
        stage=names.stage_name(int(row[2]) if row[2] != "-1" else None, row[3]),
        level=level,
        wall_s=wall_ms / _MS,
        busy_s=busy_ms / _MS,
        longest_s=longest_ms / _MS,
        wait_s=wait_ms / _MS,
    )


def _batch(now_ms: int, progress: Mapping[str, Any]) -> BatchEnd:
    return BatchEnd(
        query_id=progress["id"],
        run_id=progress["runId"],
        batch_id=progress["batchId"],
        ended_at_s=now_ms / _MS,
        duration_s=progress.get("batchDuration", 0) / _MS,
        input_rows=max(0, progress.get("numInputRows", 0)),
        input_rps=_rate(progress.get("inputRowsPerSecond")),
        processed_rps=_rate(progress.get("processedRowsPerSecond")),
        lag_rows=_lag(progress.get("sources", ())),
        parts_s=_parts_s(progress.get("durationMs") or {}),
        state_memory_bytes=_state_memory_bytes(progress.get("stateOperators") or ()),
    )


def _parts_s(durations_ms: Mapping[str, Any]) -> dict[str, float]:
    """Seconds of the parts that have a series, of those that Spark tells."""
    told = {part: durations_ms[part] for part in names.PARTS if isinstance(durations_ms.get(part), int)}
    return {part: max(0, ms) / _MS for part, ms in told.items()}


def _state_memory_bytes(operators: Iterable[Mapping[str, Any]]) -> int | None:
    told = [operator["memoryUsedBytes"] for operator in operators if isinstance(operator.get("memoryUsedBytes"), int)]
    return sum(told) if told else None


def _rate(value: Any) -> float | None:
    """Spark leaves a rate out, or writes it as text, where it is not a finite number."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)


def _lag(sources: Iterable[Mapping[str, Any]]) -> float | None:
    """Rows that the sources hold beyond the batch, None when no source tells.

    Sources whose offsets are counts per topic and partition (Kafka) tell exactly: newest offset minus end of batch.
    """
    lags = [_offset_lag(source.get("latestOffset"), source.get("endOffset")) for source in sources]
    known = [lag for lag in lags if lag is not None]
    return float(sum(known)) if known else None


def _offset_lag(latest: Any, end: Any) -> int | None:
    newest, done = _offsets(latest), _offsets(end)
    if newest is None or done is None:
        return None
    return sum(max(0, offset - done.get(key, 0)) for key, offset in newest.items())


def _offsets(value: Any) -> dict[tuple[str, str], int] | None:
    """Offsets {topic: {partition: offset}} made flat; None for any other shape."""
    if not isinstance(value, dict) or not value:
        return None
    flat: dict[tuple[str, str], int] = {}
    for topic, partitions in value.items():
        if not isinstance(partitions, dict) or not all(isinstance(offset, int) for offset in partitions.values()):
            return None
        flat.update({(topic, partition): offset for partition, offset in partitions.items()})
    return flat


def read_executors(text: str) -> tuple[Executor, ...]:
    """The N lines of `Probe.describe`, in their order."""
    rows = [row for row in _rows(text) if row[0] == "N"]
    return tuple(Executor(executor_id=row[1], host=row[2], cores=int(row[3])) for row in rows)


def read_queries(text: str) -> tuple[Query, ...]:
    """The Q lines of `Probe.describe`; a query whose plan has no stateful operator is left out."""
    rows = [row for row in _rows(text) if row[0] == "Q"]
    return tuple(_query(row) for row in rows if row[4] == "0" or row[6])


def _query(row: list[str]) -> Query:
    operators = (pair.split(":") for pair in row[6].split(",") if pair)
    return Query(
        query_id=row[1],
        run_id=row[2],
        name=row[7] or None,
        operators={int(operator): int(partitions) for operator, partitions in operators},
        trigger_interval_s=int(row[3]) / _MS if int(row[3]) > 0 else None,
        idle=row[5] == "1",
    )


def read_state_bytes(text: str) -> dict[GroupKey, int]:
    """What `Probe.stateBytes` wrote: operator, then bytes of partitions 0, 1, ..., empty where they are not known."""
    cells = ((int(row[0]), p, cell) for row in _rows(text) for p, cell in enumerate(row[1:]) if cell)
    return {GroupKey(operator=operator, partition=p): int(cell) for operator, p, cell in cells}


def read_traffic(text: str) -> TrafficReading:
    """What `Probe.traffic` wrote: lines P are pairs, lines A all that a group sends."""
    lines = _rows(text)
    rows = [[int(cell) for cell in line[1:]] for line in lines if line[0] == "P"]
    pairs = [
        Traffic(
            from_key=GroupKey(operator=row[0], partition=row[1]),
            to_key=GroupKey(operator=row[2], partition=row[3]),
            size_bytes=row[4],
        )
        for row in rows
    ]
    sent = {
        GroupKey(operator=int(line[1]), partition=int(line[2])): Sent(size_bytes=int(line[3]), partners=int(line[4]))
        for line in lines
        if line[0] == "A"
    }
    return TrafficReading(pairs=tuple(sorted(pairs, key=lambda pair: -pair.size_bytes)), sent=sent)


def read_memory(text: str) -> dict[str, tuple[int, int]]:
    """What `Probe.memory` wrote: executor id -> bytes used, bytes of JVM pools outside the heap; without the driver."""
    rows = [line.split("\t") for line in text.splitlines()]
    return {row[0]: (int(row[1]), int(row[2])) for row in rows if row[0] != "driver"}


def write_owners(owners: Mapping[GroupKey, Executor]) -> str:
    """What `Probe.place` reads: a line for each operator, executor ids by partition, empty for "leave"."""
    return _lines({key: executor.executor_id for key, executor in owners.items()})


def write_ranks(owners: Mapping[GroupKey, str]) -> str:
    """What `Probe.remember` reads: as `write_owners`, with the rank of each owner among all in place of its id."""
    ranks = {executor: str(rank) for rank, executor in enumerate(sorted(set(owners.values()), key=id_order))}
    return _lines({key: ranks[executor] for key, executor in owners.items()})


def _lines(cells: Mapping[GroupKey, str]) -> str:
    rows: dict[int, dict[int, str]] = {}
    for key, cell in cells.items():
        rows.setdefault(key.operator, {})[key.partition] = cell
    return "\n".join(_owner_line(operator, row) for operator, row in sorted(rows.items()))


def _owner_line(operator: int, row: Mapping[int, str]) -> str:
    return "\t".join([str(operator), *(row.get(partition, "") for partition in range(max(row) + 1))])


def read_diagnostics(text: str) -> tuple[dict[str, tuple[int, str]], dict[str, int]]:
    """Faults caught inside the probe (place -> count, newest message), and its counters (see `Probe.diagnostics`)."""
    rows = _rows(text)
    faults = {row[1]: (int(row[2]), row[3]) for row in rows if row[0] == "X"}
    return faults, {row[1]: int(row[2]) for row in rows if row[0] == "T"}
