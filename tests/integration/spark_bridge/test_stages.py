"""The stages of a query's batches as Spark ran them: whose key groups they are, and what comes after what."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import subprocess
import sys
import threading
from typing import Any

import pytest
from pyspark.sql import functions as F

from streamjob_agent.bridge import StageUsage

pytestmark = pytest.mark.spark
FOUR_SLOTS = pathlib.Path(__file__).with_name("four_slots.py")
Levels = dict[str, int]


@dataclasses.dataclass
class Measured:
    """What one batch gave."""

    stages: tuple[StageUsage, ...]
    usage: Any
    operators: set[int]  # that the bridge says the query has

    @property
    def levels(self) -> Levels:
        return {one.stage: one.level for one in self.stages}

    def of(self, stage: str) -> StageUsage:
        return next(one for one in self.stages if one.stage == stage)


@pytest.fixture
def measure(watch: Any, file_stream: Any) -> Any:
    """Runs a query's first batch, then one more file, of which it gives the figures."""

    def run(frame: Any, sink: Any, mode: str) -> Measured:
        writer = frame.writeStream.outputMode(mode).option("checkpointLocation", file_stream.checkpoint)
        query = writer.foreachBatch(sink).start()
        watch.run(query)
        watch.bridge.drain()
        # Two sources look into their folder one after the other: a file that comes in between is two batches' work.
        for _ in range(5):
            file_stream.write(keys=20)
            query.processAllAvailable()
            usage = watch.cluster.wait_until(lambda: with_a_batch(watch.bridge.drain()), "a batch's figures")
            if any(batch.input_rows == file_stream.lines_per_file * file_stream.sources for batch in usage.batches):
                break
        (known,) = (one for one in watch.bridge.look().queries if one.query_id == query.id)
        query.stop()
        return Measured(usage.stages[query.id], usage, set(known.operators))

    file_stream.lines_per_file = 40
    file_stream.write(keys=20)
    return run


def with_a_batch(usage: Any) -> Any:
    return usage if usage.batches else None


def collect(frame: Any, _: int) -> None:
    frame.collect()


def counts(frame: Any, key: str = "k", name: str = "n") -> Any:
    return frame.groupBy(key).agg(F.count("*").alias(name))


def groups_of(query_groups: Any) -> dict[int, set[int]]:
    found: dict[int, set[int]] = {}
    for group in query_groups:
        found.setdefault(group.key.operator, set()).add(group.key.partition)
    return found


def only(usage: Any) -> Any:
    (groups,) = usage.groups.values()
    return groups


def test_one_operator_comes_after_its_source(measure: Any, file_stream: Any) -> None:
    measured = measure(counts(file_stream.read()), collect, "update")
    assert measured.levels == {"free-0.0": 0, "operator-0": 1}
    stage, groups = measured.of("operator-0"), only(measured.usage)
    assert stage.busy_s == pytest.approx(sum(group.busy_s for group in groups))
    assert stage.longest_s == max(group.busy_s for group in groups)
    assert 0 < stage.longest_s <= stage.wall_s <= stage.busy_s + 5
    assert sum(group.moments.squared_s2 for group in groups) == pytest.approx(sum(g.busy_s**2 for g in groups))
    assert all((group.state_memory_bytes or 0) > 0 and not group.state_in_heap for group in groups), "RocksDB tells it"
    (batch,) = measured.usage.batches
    assert sum(group.state_memory_bytes for group in groups) == batch.state_memory_bytes
    assert {"addBatch", "walCommit", "commitOffsets", "triggerExecution"} <= set(batch.parts_s)
    assert batch.parts_s["triggerExecution"] >= batch.parts_s["addBatch"] >= stage.wall_s


@pytest.mark.parametrize("chained", [2, 3])
def test_chained_operators_come_one_after_another(measure: Any, file_stream: Any, chained: int) -> None:
    frame, key = file_stream.read(), "k"
    for at in range(chained):
        frame, key = counts(frame, key, f"n{at}"), f"n{at}"
    measured = measure(frame, collect, "complete")
    assert measured.levels == {"free-0.0": 0, **{f"operator-{at}": chained - at for at in range(chained)}}


def test_a_join_comes_after_both_its_inputs_and_before_what_reads_it(measure: Any, file_stream: Any) -> None:
    left = file_stream.read().withColumn("at", F.current_timestamp()).withWatermark("at", "1 minute")
    # Once the watermark has moved, a batch without data follows, of whose source stages none runs.
    joined = left.join(file_stream.read().withColumnRenamed("v", "w"), "k")
    measured = measure(joined.groupBy(F.window("at", "1 minute")).count(), collect, "append")
    free = sorted(name for name in measured.levels if name.startswith("free"))
    assert free == ["free-0.0", "free-0.1"]
    assert sorted(level for name, level in measured.levels.items() if name.startswith("operator")) == [1, 2]


@pytest.mark.parametrize("alike", [False, True])
def test_branches_of_a_union_share_a_level(measure: Any, file_stream: Any, alike: bool) -> None:
    # Partitioned alike, a union is a stage whose tasks work on a partition of each input: one operator, as in a join.
    file_stream.session.conf.set("spark.sql.unionOutputPartitioning", str(alike).lower())
    one = counts(file_stream.read()).withColumn("from", F.lit("one"))
    other = counts(file_stream.read().where("v > 3")).withColumn("from", F.lit("other"))
    try:
        measured = measure(one.unionByName(other), collect, "update")
    finally:
        file_stream.session.conf.unset("spark.sql.unionOutputPartitioning")
    operators = {name: level for name, level in measured.levels.items() if name.startswith("operator")}
    assert sorted(operators.values()) in (([1], [1, 1]) if alike else ([1, 1],))
    found = groups_of(only(measured.usage))
    assert set(found) == measured.operators
    assert set(found) == {int(name.removeprefix("operator-")) for name in operators}
    assert all(partitions == set(range(8)) for partitions in found.values())


@pytest.mark.parametrize("stateless_first", [False, True])
def test_a_union_of_stateless_and_stateful_inputs_tells_them_apart(
    measure: Any, file_stream: Any, stateless_first: bool
) -> None:
    stateful = counts(file_stream.read()).select("k", "n")
    stateless = file_stream.read().select("k", F.col("v").alias("n")).repartition(5)
    union = stateless.unionByName(stateful) if stateless_first else stateful.unionByName(stateless)
    measured = measure(union, collect, "update")
    groups = only(measured.usage)
    assert sorted(group.key.partition for group in groups) == list(range(8))
    assert all(group.tasks == group.moments.batches > 0 for group in groups)
    assert measured.levels["operator-0"] == 1
    assert "free-1.0" in measured.levels  # the other tasks of the same stage
    assert measured.of("operator-0").busy_s == pytest.approx(sum(group.busy_s for group in groups))


def test_jobs_of_foreach_batch_go_on_counting(measure: Any, file_stream: Any) -> None:
    def sink(frame: Any, _: int) -> None:
        rows = frame.collect()
        frame.sparkSession.createDataFrame(rows, frame.schema).repartition(3, "k").collect()

    measured = measure(counts(file_stream.read()), sink, "update")
    assert measured.levels == {"free-0.0": 0, "operator-0": 1, "free-2.0": 2, "free-3.0": 3}


def test_two_actions_on_a_batch_are_one_stage_of_its_key_groups(measure: Any, file_stream: Any) -> None:
    def sink(frame: Any, _: int) -> None:
        frame.collect()
        frame.collect()

    measured = measure(counts(file_stream.read()), sink, "update")
    groups = only(measured.usage)
    assert measured.levels == {"free-0.0": 0, "operator-0": 1}
    assert [group.tasks for group in groups] == [2] * 8
    assert [group.moments.batches for group in groups] == [1] * 8
    assert sum(group.moments.squared_s2 for group in groups) == pytest.approx(sum(g.busy_s**2 for g in groups))


def test_four_slots_share_a_stage(tmp_path: pathlib.Path) -> None:
    done = subprocess.run(
        [sys.executable, str(FOUR_SLOTS), str(tmp_path)], cwd=tmp_path, capture_output=True, check=False, timeout=200
    )
    assert done.returncode == 0, done.stderr.decode()[-3000:]
    found = json.loads((tmp_path / "found.json").read_text())
    assert found["batches"] == 2
    assert found["levels"] == {"free-0.0": 0, "operator-0": 1}
    assert found["first_tasks"] == 4 * found["batches"], "one for each slot"
    assert found["groups_s"] == pytest.approx(found["busy_s"])
    assert found["longest_s"] < found["wall_s"] < found["busy_s"], "tasks of a stage run side by side"
    assert found["squared_s2"] >= found["busy_s"] ** 2 / (8 * found["batches"])


def test_work_of_a_batch_that_never_ended_is_no_work_of_the_next_one(watch: Any, file_stream: Any) -> None:
    """The same batch runs twice, the first time it is stopped and fails: only once it counts."""
    file_stream.lines_per_file = 40
    file_stream.write(keys=20)
    worked, stopped = threading.Event(), threading.Event()

    def sink(frame: Any, _: int) -> None:
        frame.collect()
        first = not worked.is_set()
        worked.set()
        stopped.wait(60)
        if first:
            raise RuntimeError("stopped")  # else Spark may commit the batch before it sees that it was stopped

    def start() -> Any:
        writer = counts(file_stream.read()).writeStream.outputMode("update")
        return writer.option("checkpointLocation", file_stream.checkpoint).foreachBatch(sink).start()

    broken = start()
    watch.cluster.wait_until(worked.is_set, "the first try's work")
    stopper = threading.Thread(target=broken.stop)
    stopper.start()
    watch.cluster.wait_until(lambda: not broken.isActive, "the query's end")
    stopped.set()
    stopper.join()
    watch.bridge.drain()
    query = start()
    query.processAllAvailable()
    usage = watch.cluster.wait_until(lambda: with_a_batch(watch.bridge.drain()), "a batch's figures")
    query.stop()
    (progress,) = [one for one in query.recentProgress if "addBatch" in one["durationMs"]]
    rows = sum(group.records for group in usage.groups[query.id])
    assert 0 < rows <= progress["numInputRows"]
    assert {group.moments.batches for group in usage.groups[query.id]} == {1}
    assert {one.stage: one.level for one in usage.stages[query.id]} == {"free-0.0": 0, "operator-0": 1}
