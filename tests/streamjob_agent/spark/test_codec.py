"""The probe's text lines: what they mean, and what stays unknown."""

from __future__ import annotations

import json
from typing import Any

import pytest

from streamjob_agent.bridge import Executor, GroupUsage, Moments, Sent, StageUsage
from streamjob_agent.spark import codec
from streamjob_agent.wire import GroupKey


def progress(**fields: Any) -> str:
    base = {"id": "q", "runId": "r", "batchId": 7, "batchDuration": 1500, "numInputRows": 10, "sources": []}
    return json.dumps({**base, **fields})


def usage_of(*lines: str) -> Any:
    return codec.read_usage("\n".join([*lines, "F\t0\t-1\t0\t-1"]))


def test_usage_of_a_key_group() -> None:
    usage = usage_of(
        "G\tq\t1\t3\t12\t11\t2\t2\t1\t1500\t2500000000\t40\t5\t6\t300\t70\t9\t4096\t-1\t1250000.0\t500.0\t1"
    )
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


def test_state_on_the_heap_is_its_current_version() -> None:
    usage = usage_of(
        "G\tq\t1\t3\t12\t11\t2\t2\t1\t1500\t2500000000\t40\t5\t6\t300\t70\t9\t8192\t4096\t1250000.0\t500.0\t1"
    )
    (group,) = usage.groups["q"]
    assert (group.state_memory_bytes, group.state_in_heap) == (4096, True)


def test_unknown_state_and_stage_time_are_none() -> None:
    usage = usage_of("G\tq\t1\t3\t12\t\t0\t0\t0\t0\t0\t0\t0\t0\t0\t0\t-1\t-1\t-1\t0.0\t0.0\t0")
    assert usage.groups["q"][0].state_rows is None
    assert usage.groups["q"][0].state_memory_bytes is None
    assert usage.longest_stateful_stage_s is None
    assert usage.longest_task_s is None


def test_sums_and_counts() -> None:
    usage = codec.read_usage("O\tq\t250\nE\t0\t1000\nE\t1\t20\nF\t3\t4200\t0\t900")
    assert usage.other_busy_s == {"q": 0.25}
    assert usage.executor_busy_s == {"0": 1.0, "1": 0.02}
    assert usage.failed_tasks == 3
    assert (usage.longest_stateful_stage_s, usage.longest_task_s) == (4.2, 0.9)


def test_batch_from_progress() -> None:
    (batch,) = usage_of("B\t9000\t" + progress(inputRowsPerSecond=2.5, processedRowsPerSecond="Infinity")).batches
    assert (batch.query_id, batch.run_id, batch.batch_id) == ("q", "r", 7)
    assert (batch.ended_at_s, batch.duration_s, batch.input_rows) == (9.0, 1.5, 10)
    assert (batch.input_rps, batch.processed_rps, batch.lag_rows) == (2.5, None, None)


def test_stages_of_a_query() -> None:
    usage = usage_of("S\tq\t-1\t0.1\t0\t1500\t2000\t700\t90", "S\tq\t3\t\t1\t10\t20\t5\t0")
    assert usage.stages == {
        "q": (
            StageUsage(stage="free-0.1", level=0, wall_s=1.5, busy_s=2.0, longest_s=0.7, wait_s=0.09),
            StageUsage(stage="operator-3", level=1, wall_s=0.01, busy_s=0.02, longest_s=0.005),
        )
    }


def test_parts_and_state_memory_of_a_batch() -> None:
    told = {"addBatch": 700, "walCommit": 20, "somethingNew": 5}
    operators = [{"memoryUsedBytes": 100}, {"memoryUsedBytes": 28}, {}]
    (batch,) = usage_of("B\t1\t" + progress(durationMs=told, stateOperators=operators)).batches
    assert batch.parts_s == {"addBatch": 0.7, "walCommit": 0.02}
    assert batch.state_memory_bytes == 128
    (bare,) = usage_of("B\t1\t" + progress()).batches
    assert (bare.parts_s, bare.state_memory_bytes) == ({}, None)


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
    source = {"latestOffset": latest, "endOffset": end}
    (batch,) = usage_of("B\t1\t" + progress(sources=[source])).batches
    assert batch.lag_rows == lag


def test_owners_that_the_bridge_gave() -> None:
    given = usage_of("W\tq\t1\t3\t12\nW\tp\t0\t0\t1").given
    assert given == {"q": {GroupKey(operator=1, partition=3): "12"}, "p": {GroupKey(operator=0, partition=0): "1"}}


def test_any_character_may_stand_in_a_metrics_name() -> None:
    name = "a\x1cb\x85c\u2028d\x0be"  # each ends a line for Python's splitlines, none for JSON
    (batch,) = usage_of(
        "B\t1\t" + json.dumps(json.loads(progress()) | {"observedMetrics": {name: 1}}, ensure_ascii=False)
    ).batches
    assert batch.batch_id == 7


def test_queries_with_and_without_state() -> None:
    text = "N\t0\thost\t2\nQ\ta\tr1\t5000\t1\t1\t0:8,2:1\tname\nQ\tb\tr2\t0\t1\t0\t\t\nQ\tc\tr3\t0\t0\t0\t\t\n"
    first, unknown = codec.read_queries(text)
    assert (first.query_id, first.name, first.operators, first.trigger_interval_s) == ("a", "name", {0: 8, 2: 1}, 5.0)
    assert (unknown.query_id, unknown.name, unknown.operators, unknown.trigger_interval_s) == ("c", None, {}, None)
    assert [one.idle for one in (first, unknown)] == [True, False]
    assert codec.read_executors(text) == (Executor(executor_id="0", host="host", cores=2),)


def test_owners_leave_gaps_where_nothing_is_said() -> None:
    one, two = (Executor(executor_id=name, host="h", cores=1) for name in ("1", "2"))
    owners = {GroupKey(operator=1, partition=2): two, GroupKey(operator=0, partition=0): one}
    assert codec.write_owners(owners) == "0\t1\n1\t\t\t2"


def test_ranks_say_who_was_together_under_ids_of_another_time() -> None:
    homes = {(0, 0): "10", (0, 2): "9", (1, 0): "10", (1, 1): "12"}
    owners = {GroupKey(operator=operator, partition=p): name for (operator, p), name in homes.items()}
    assert codec.write_ranks(owners) == "0\t1\t\t0\n1\t1\t2"


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
