"""The probe's text lines and the agent's values: the only place that knows their fields."""

from __future__ import annotations

import base64
import itertools
import json
import math
import struct
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from streamjob_agent import metric_names as names
from streamjob_agent.bridge import (
    BatchEnd,
    Executor,
    GroupUsage,
    Moments,
    Query,
    RunningBatch,
    Sent,
    StageUsage,
    Traffic,
    TrafficReading,
    Usage,
)
from streamjob_agent.spread import id_order
from streamjob_agent.wire import GroupKey

_MS = 1e3
_LENGTH = struct.Struct("<i")
ROW = struct.Struct("<6iq6d6q")
"""One key group: partition, executors of its newest task and of the newest one counted, batches, tasks, first tasks,
sum of first tasks squared; sums of seconds squared and of seconds times first tasks, seconds it ran, of CPU, garbage
and waiting for blocks; records, bytes from here and from elsewhere, its state's rows, bytes in stores and on the heap
(-1: not told)."""


def read_usage(encoded: str) -> Usage:
    """What `Probe.drain` wrote, in Base64: the length of its text, the text, and a row of numbers for each key group.

    Lines: G rows of an operator's key groups, S stage, O other tasks, E executor, B batch, R batch that runs, W owner
    given, F counts, N names of executors, which rows have numbers for.
    """
    drained = base64.b64decode(encoded)
    end = _LENGTH.size + _LENGTH.unpack_from(drained)[0]
    lines = _rows(drained[_LENGTH.size : end].decode())
    kinds: dict[str, list[list[str]]] = {}
    for line in lines:
        kinds.setdefault(line[0], []).append(line)
    stages: dict[str, list[StageUsage]] = {}
    for row in kinds.get("S", ()):
        stages.setdefault(row[1], []).append(_stage(row))
    given: dict[str, dict[GroupKey, str]] = {}
    for row in kinds.get("W", ()):
        given.setdefault(row[1], {})[GroupKey(operator=int(row[2]), partition=int(row[3]))] = row[4]
    (counts,) = kinds["F"]
    return Usage(
        groups=_groups(kinds.get("G", ()), ROW.iter_unpack(drained[end:]), kinds["N"][0][1:]),
        batches=tuple(_batch(row) for row in kinds.get("B", ())),
        other_busy_s={row[1]: int(row[2]) / _MS for row in kinds.get("O", ())},
        executor_busy_s={row[1]: int(row[2]) / _MS for row in kinds.get("E", ())},
        failed_tasks=int(counts[1]),
        longest_stateful_stage_s=None if int(counts[2]) < 0 else int(counts[2]) / _MS,
        stages={query: tuple(found) for query, found in stages.items()},
        longest_task_s=None if int(counts[4]) < 0 else int(counts[4]) / _MS,
        dropped=int(counts[3]),
        given=given,
        running={row[1]: _running(row) for row in kinds.get("R", ())},
    )


def _rows(text: str) -> list[list[str]]:
    """Lines end with a line feed alone: other characters that end lines for Python may stand in names of the job's."""
    return [line.split("\t") for line in text.split("\n") if line]


def _groups(
    lines: Iterable[list[str]], rows: Iterator[tuple[Any, ...]], executors: list[str]
) -> dict[str, tuple[GroupUsage, ...]]:
    """Key groups by query, in order."""
    names_of = (*executors, "")  # the last one stands for none: its number is -1
    found: dict[str, list[GroupUsage]] = {}
    for _, query, operator, count in lines:
        number = int(operator)
        usages = (_group(number, row, names_of) for row in itertools.islice(rows, int(count)))
        found.setdefault(query, []).extend(usages)
    return {query: tuple(usages) for query, usages in found.items()}


def _group(operator: int, row: tuple[Any, ...], executors: tuple[str, ...]) -> GroupUsage:
    """Made by place: there is one for each key group of a batch, and by name it would take twice as long."""
    partition, ran_on, counted_on, batches, tasks, first_tasks, firsts_squared = row[:7]
    squared_s2, first_s, busy_s, cpu_s, gc_s, fetch_s = row[7:13]
    records, local_bytes, remote_bytes, state_rows, in_stores, in_heap = row[13:]
    memory = in_stores if in_heap < 0 else in_heap
    return GroupUsage(
        GroupKey(operator, partition),
        executors[ran_on],
        executors[counted_on],
        Moments(batches, squared_s2, first_s, firsts_squared),
        tasks,
        first_tasks,
        busy_s,
        cpu_s,
        records,
        local_bytes,
        remote_bytes,
        None if state_rows < 0 else state_rows,
        None if memory < 0 else memory,
        in_heap >= 0,
        gc_s,
        fetch_s,
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


def _batch(row: list[str]) -> BatchEnd:
    """A line B; see `BatchLine.of`.

    Spark takes its times from the machine's clock: a batch in which that was set back took less than nothing, by which
    no counter may fall.
    """
    _, ended_ms, query, run, number, took_ms, rows, read_rps, worked_rps, memory, sources, *rest = row
    offsets = 2 * int(sources)
    return BatchEnd(
        query_id=query,
        run_id=run,
        batch_id=int(number),
        ended_at_s=int(ended_ms) / _MS,
        duration_s=max(0, int(took_ms)) / _MS,
        input_rows=max(0, int(rows)),
        input_rps=_rate(read_rps),
        processed_rps=_rate(worked_rps),
        lag_rows=_lag(zip(rest[:offsets:2], rest[1:offsets:2], strict=True)),
        parts_s=_parts_s(rest[offsets:]),
        state_memory_bytes=None if int(memory) < 0 else int(memory),
    )


def _running(row: list[str]) -> RunningBatch:
    """A line R; see `Intake.drain`."""
    _, _, number, begun_ms, rows = row
    return RunningBatch(batch_id=int(number), began_at_s=int(begun_ms) / _MS, rows=int(rows))


def _parts_s(parts: Iterable[str]) -> dict[str, float]:
    """Seconds of the parts that have a series, of those that Spark tells, "name=ms"."""
    told = dict(part.split("=", 1) for part in parts)
    return {part: max(0, int(told[part])) / _MS for part in names.PARTS if part in told}


def _rate(text: str) -> float | None:
    """None where Spark knows no finite number, or one below zero, as where the clock was set back."""
    value = float(text)
    return value if math.isfinite(value) and value >= 0.0 else None


def _lag(sources: Iterable[tuple[str, str]]) -> float | None:
    """Rows that the sources hold beyond the batch, None when no source tells; of each its newest offset and that done.

    Sources whose offsets are counts per topic and partition (Kafka) tell exactly: newest offset minus end of batch.
    """
    lags = [_offset_lag(_json(newest), _json(done)) for newest, done in sources if newest and done]
    known = [lag for lag in lags if lag is not None]
    return float(sum(known)) if known else None


def _json(text: str) -> Any:
    """None where it is something else: what an offset looks like is a source's own affair."""
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        return None


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


def read_wait(text: str) -> tuple[int, bool]:
    """What `Probe.waitForBatch` wrote: ends of batches so far, and whether anything else has changed."""
    ends, changed = text.split("\t")
    return int(ends), changed == "1"


def read_executors(text: str) -> tuple[Executor, ...]:
    """The N lines of `Probe.describe`, in their order."""
    rows = [row for row in _rows(text) if row[0] == "N"]
    return tuple(
        Executor(executor_id=name, host=host, cores=int(cores), leaving=leaving == "1")
        for _, name, host, cores, leaving in rows
    )


def read_queries(text: str) -> tuple[Query, ...]:
    """The Q lines of `Probe.describe`; a query whose plan has no stateful operator is left out."""
    rows = [row for row in _rows(text) if row[0] == "Q"]
    return tuple(_query(row) for row in rows if row[4] == "0" or row[6])


def _query(row: list[str]) -> Query:
    operators = (pair.split(":") for pair in row[6].split(",") if pair)
    return Query(
        query_id=row[1],
        run_id=row[2],
        name=row[8] or None,
        operators={int(operator): int(partitions) for operator, partitions in operators},
        pinned=frozenset(GroupKey(operator=int(one), partition=0) for one in row[7].split(",") if one),
        trigger_interval_s=int(row[3]) / _MS if int(row[3]) > 0 else None,
        idle=row[5] == "1",
    )


def read_state_bytes(text: str) -> dict[GroupKey, int]:
    """What `Probe.stateBytes` wrote: operator, then bytes of partitions 0, 1, ..., empty where they are not known."""
    cells = ((int(row[0]), p, cell) for row in _rows(text) for p, cell in enumerate(row[1:]) if cell)
    return {GroupKey(operator=operator, partition=p): int(cell) for operator, p, cell in cells}


def read_traffic(text: str) -> TrafficReading:
    """What `Probe.traffic` wrote: lines P are pairs, lines A all that a group sends."""
    pairs: list[Traffic] = []
    sent: dict[GroupKey, Sent] = {}
    for kind, *cells in _rows(text):
        operator, partition, *rest = map(int, cells)
        key = GroupKey(operator, partition)
        if kind == "A":
            size_bytes, partners = rest
            sent[key] = Sent(size_bytes, partners)
        else:
            to_operator, to_partition, size_bytes = rest
            pairs.append(Traffic(key, GroupKey(to_operator, to_partition), size_bytes))
    return TrafficReading(pairs=tuple(sorted(pairs, key=lambda pair: -pair.size_bytes)), sent=sent)


def read_memory(text: str) -> dict[str, tuple[int, int]]:
    """What `Probe.memory` wrote: executor id -> bytes used, bytes of JVM pools outside the heap; without the driver."""
    return {row[0]: (int(row[1]), int(row[2])) for row in _rows(text) if row[0] != "driver"}


def read_stops(text: str) -> dict[str, str]:
    """What `Probe.stopQueries` wrote: query id -> where it was stopped, or what Spark threw, with the query's name."""
    return {row[0]: row[1] for row in _rows(text)}


def write_owners(owners: Mapping[GroupKey, Executor]) -> str:
    """What `Probe.place` reads: a line for each operator, executor ids by partition, empty for "leave"."""
    rows: dict[int, dict[int, str]] = {}
    for key, executor in owners.items():
        rows.setdefault(key.operator, {})[key.partition] = executor.executor_id
    return "\n".join(_owner_line(operator, row) for operator, row in sorted(rows.items()))


def write_ranks(owners: Mapping[int, Sequence[str | None]]) -> str:
    """What `Probe.remember` reads: a line for each operator, ranks of owners among all by partition, empty for none.

    Every partition has its cell, the last ones too: a row of another length is not taken for the operator's.
    """
    named = {owner for row in owners.values() for owner in row if owner is not None}
    ranks = {executor: str(rank) for rank, executor in enumerate(sorted(named, key=id_order))}
    rows = ([str(operator), *("" if one is None else ranks[one] for one in row)] for operator, row in owners.items())
    return "\n".join("\t".join(row) for row in rows)


def _owner_line(operator: int, row: Mapping[int, str]) -> str:
    return "\t".join([str(operator), *(row.get(partition, "") for partition in range(max(row) + 1))])


def read_diagnostics(text: str) -> tuple[dict[str, tuple[int, str]], dict[str, int]]:
    """Faults caught inside the probe (place -> count, newest message), and its counters (see `Probe.diagnostics`)."""
    rows = _rows(text)
    faults = {row[1]: (int(row[2]), row[3]) for row in rows if row[0] == "X"}
    return faults, {row[1]: int(row[2]) for row in rows if row[0] == "T"}
