"""The probe's text lines: what they mean, and what stays unknown."""

from __future__ import annotations

import base64
import dataclasses
import json
import struct
from typing import Any

import pytest

from streamjob_agent.bridge import Executor, GroupUsage, Moments, RunningBatch, Sent, StageUsage
from streamjob_agent.spark import codec
from streamjob_agent.wire import GroupKey


def drained(text: str, *rows: tuple[float, ...]) -> str:
    """As the probe packs it."""
    packed = struct.pack("<i", len(text.encode())) + text.encode() + b"".join(codec.ROW.pack(*row) for row in rows)
    return base64.b64encode(packed).decode()


def usage_of(*lines: str, rows: tuple[tuple[float, ...], ...] = (), executors: tuple[str, ...] = ()) -> Any:
    return codec.read_usage(drained("\n".join([*lines, "F\t0\t-1\t0\t-1", "\t".join(["N", *executors]), ""]), *rows))


def batch_line(
    *parts: str,
    sources: tuple[tuple[str, str], ...] = (),
    rows: int = 10,
    rates: tuple[str, str] = ("2.5", "NaN"),
    memory: int = -1,
    took_ms: int = 1500,
) -> str:
    offsets = [offset for pair in sources for offset in pair]
    counts = [str(rows), *rates, str(memory), str(len(sources))]
    return "\t".join(["B", "9000", "q", "r", "7", str(took_ms), *counts, *offsets, *parts])


ROW = (3, 1, 0, 2, 2, 1, 1, 1.25, 0.5, 1.5, 2.5, 0.3, 0.07, 40, 5, 6, 9, 4096, -1)


def test_usage_of_a_key_group() -> None:
    usage = usage_of("G\tq\t1\t1", rows=(ROW,), executors=("11", "12"))
    assert usage.groups == {
        "q": (
            GroupUsage(
                key=GroupKey(operator=1, partition=3),
                executor_id="12",
                counted_on="11",
                moments=Moments(batches=2, squared_s2=1.25, first_s=0.5, firsts_squared=1),
                tasks=2,
                first_tasks=1,
                busy_s=1.5,
                cpu_s=2.5,
                records=40,
                local_bytes=5,
                remote_bytes=6,
                state_rows=9,
                state_memory_bytes=4096,
                gc_s=0.3,
                fetch_wait_s=0.07,
            ),
        )
    }


def test_rows_belong_to_the_operators_that_say_how_many_they_have() -> None:
    rows = tuple((partition, *ROW[1:]) for partition in (0, 2, 5, 1))
    usage = usage_of("G\tq\t0\t2", "G\tq\t3\t1", "G\tp\t0\t1", rows=rows, executors=("11", "12"))
    found = {query: [tuple(group.key) for group in groups] for query, groups in usage.groups.items()}
    assert found == {"q": [(0, 0), (0, 2), (3, 5)], "p": [(0, 1)]}


def test_state_on_the_heap_is_its_current_version() -> None:
    (group,) = usage_of("G\tq\t1\t1", rows=((*ROW[:-2], 8192, 4096),), executors=("11", "12")).groups["q"]
    assert (group.state_memory_bytes, group.state_in_heap) == (4096, True)


def test_what_was_not_told_is_none() -> None:
    row = (3, 0, -1, *[0] * 4, *[0.0] * 6, 0, 0, 0, -1, -1, -1)
    usage = usage_of("G\tq\t1\t1", rows=(row,), executors=("12",))
    (group,) = usage.groups["q"]
    assert (group.executor_id, group.counted_on) == ("12", "")
    assert (group.state_rows, group.state_memory_bytes, group.state_in_heap) == (None, None, False)
    assert usage.longest_stateful_stage_s is None
    assert usage.longest_task_s is None


def test_sums_and_counts() -> None:
    usage = codec.read_usage(drained("O\tq\t250\nE\t0\t1000\nE\t1\t20\nF\t3\t4200\t0\t900\nN\n"))
    assert usage.other_busy_s == {"q": 0.25}
    assert usage.executor_busy_s == {"0": 1.0, "1": 0.02}
    assert usage.failed_tasks == 3
    assert (usage.longest_stateful_stage_s, usage.longest_task_s) == (4.2, 0.9)


def test_batch_from_progress() -> None:
    (batch,) = usage_of(batch_line(rates=("2.5", "Infinity"))).batches
    assert (batch.query_id, batch.run_id, batch.batch_id) == ("q", "r", 7)
    assert (batch.ended_at_s, batch.duration_s, batch.input_rows) == (9.0, 1.5, 10)
    assert (batch.input_rps, batch.processed_rps, batch.lag_rows) == (2.5, None, None)


def test_a_batch_in_which_the_clock_was_set_back_takes_nothing_off_what_was_counted() -> None:
    (batch,) = usage_of(batch_line(took_ms=-3_600_000, rates=("-0.1", "-2.5"))).batches
    assert (batch.duration_s, batch.input_rps, batch.processed_rps) == (0.0, None, None)


def test_stages_of_a_query() -> None:
    usage = usage_of("S\tq\t-1\t0.1\t0\t1500\t2000\t700\t90", "S\tq\t3\t\t1\t10\t20\t5\t0")
    assert usage.stages == {
        "q": (
            StageUsage(stage="free-0.1", level=0, wall_s=1.5, busy_s=2.0, longest_s=0.7, wait_s=0.09),
            StageUsage(stage="operator-3", level=1, wall_s=0.01, busy_s=0.02, longest_s=0.005),
        )
    }


def test_parts_and_state_memory_of_a_batch() -> None:
    (batch,) = usage_of(batch_line("addBatch=700", "walCommit=20", "somethingNew=5", memory=128)).batches
    assert batch.parts_s == {"addBatch": 0.7, "walCommit": 0.02}
    assert batch.state_memory_bytes == 128
    (bare,) = usage_of(batch_line(rows=-1)).batches
    assert (bare.parts_s, bare.state_memory_bytes, bare.input_rows) == ({}, None, 0)


@pytest.mark.parametrize(
    ("latest", "end", "lag"),
    [
        ({"t": {"0": 100, "1": 50}}, {"t": {"0": 90, "1": 50}}, 10.0),
        ({"t": {"0": 100, "1": 50}}, {"t": {"0": 90}}, 60.0),
        ({"t": {"0": 5}}, {"t": {"0": 9}}, 0.0),
        (12, 10, None),
        (None, {"t": {"0": 1}}, None),
        ({"logOffset": 4}, {"logOffset": 3}, None),
        ({}, {}, None),
    ],
)
def test_lag_is_told_only_by_offsets_that_count_rows(latest: Any, end: Any, lag: float | None) -> None:
    texts = ["" if offset is None else json.dumps(offset) for offset in (latest, end)]
    (batch,) = usage_of(batch_line("addBatch=1", sources=((texts[0], texts[1]), ("", "no JSON")))).batches
    assert batch.lag_rows == lag
    assert batch.parts_s == {"addBatch": 0.001}


@pytest.mark.parametrize("offset", ["no JSON", "[" * 100_000, '"text"', "\x1cb\x85c\u2028d\x0be"])
def test_an_offset_may_be_any_text(offset: str) -> None:
    (batch,) = usage_of(batch_line(sources=((offset, offset),))).batches
    assert (batch.batch_id, batch.lag_rows) == (7, None)


def test_owners_that_the_bridge_gave() -> None:
    given = usage_of("W\tq\t1\t3\t12\nW\tp\t0\t0\t1").given
    assert given == {"q": {GroupKey(operator=1, partition=3): "12"}, "p": {GroupKey(operator=0, partition=0): "1"}}


def test_queries_with_and_without_state() -> None:
    executors = "N\t0\thost\t2\t0\nN\t1\thost\t2\t1\n"
    rows = ("a\tr1\t5000\t1\t1\t0:8,2:1\t0,2\tname", "b\tr2\t0\t1\t0\t\t\t", "c\tr3\t0\t0\t0\t\t\t")
    text = executors + "".join(f"Q\t{row}\n" for row in rows)
    first, unknown = codec.read_queries(text)
    assert (first.query_id, first.name, first.operators, first.trigger_interval_s) == ("a", "name", {0: 8, 2: 1}, 5.0)
    assert (unknown.query_id, unknown.name, unknown.operators, unknown.trigger_interval_s) == ("c", None, {}, None)
    assert [one.idle for one in (first, unknown)] == [True, False]
    assert first.pinned == {GroupKey(operator=0, partition=0), GroupKey(operator=2, partition=0)}
    assert unknown.pinned == frozenset()
    stays = Executor(executor_id="0", host="host", cores=2)
    assert codec.read_executors(text) == (stays, dataclasses.replace(stays, executor_id="1", leaving=True))


def test_owners_leave_gaps_where_nothing_is_said() -> None:
    one, two = (Executor(executor_id=name, host="h", cores=1) for name in ("1", "2"))
    owners = {GroupKey(operator=1, partition=2): two, GroupKey(operator=0, partition=0): one}
    assert codec.write_owners(owners) == "0\t1\n1\t\t\t2"


def test_ranks_say_who_was_together_under_ids_of_another_time() -> None:
    owners = {0: ("10", None, "9"), 1: ("10", "12")}
    assert codec.write_ranks(owners) == "0\t1\t\t0\n1\t1\t2"


def test_ranks_of_an_operator_whose_last_groups_nobody_had_are_still_those_of_all_its_groups() -> None:
    assert codec.write_ranks({0: ("9", None, None), 1: (None, None)}) == "0\t0\t\t\n1\t\t"


def test_state_bytes_and_traffic() -> None:
    assert codec.read_state_bytes("0\t5\t6\n2\t7\n") == {
        GroupKey(operator=0, partition=0): 5,
        GroupKey(operator=0, partition=1): 6,
        GroupKey(operator=2, partition=0): 7,
    }
    lines = "P\t1\t0\t0\t3\t10\nP\t1\t1\t0\t2\t90\nA\t1\t0\t35\t3\n"
    reading = codec.read_traffic(lines)
    assert [pair.size_bytes for pair in reading.pairs] == [90, 10]
    assert reading.sent == {GroupKey(operator=1, partition=0): Sent(size_bytes=35, partners=3)}


def test_memory_of_executors() -> None:
    assert codec.read_memory("driver\t7\t1\n0\t500\t90\n12\t600\t80\n") == {"0": (500, 90), "12": (600, 80)}


def test_diagnostics() -> None:
    faults, counters = codec.read_diagnostics("X\ttask\t3\tjava.lang.Error: no\nT\tguarded\t4\n")
    assert faults == {"task": (3, "java.lang.Error: no")}
    assert counters == {"guarded": 4}


def test_the_batch_that_runs() -> None:
    usage = usage_of("R\tq\t8\t12500\t340", batch_line())
    assert usage.running == {"q": RunningBatch(batch_id=8, began_at_s=12.5, rows=340)}
    assert usage_of(batch_line()).running == {}


def test_what_spark_says_of_a_query_that_does_not_stop_may_hold_its_name() -> None:
    late = "TimeoutException: Stream Execution thread for stream a\u2028b\x85c [id = 2] failed to stop in time"
    assert codec.read_stops(f"1\tbetween\n2\t{late}\n") == {"1": "between", "2": late}
    assert codec.read_stops("") == {}
