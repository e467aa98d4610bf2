"""Whose load it is: a group's own work, garbage collection, reading from elsewhere, or another job of the driver."""

from __future__ import annotations

import os
import pathlib
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
COLLECTS, SLOTS, HELD_S = 12, 3, 0.5


@pytest.fixture
def measure(watch: Any, file_stream: Any) -> Any:
    """Runs a query's first batch, then one more file, of which it gives the usage; `beside` begins just before."""

    def run(frame: Any, beside: Any = None) -> Any:
        query = (
            frame.writeStream.outputMode("update")
            .option("checkpointLocation", file_stream.checkpoint)
            .foreachBatch(lambda rows, _: rows.collect())
            .start()
        )
        watch.run(query)
        watch.bridge.drain()
        if beside is not None:
            beside()
        file_stream.write(keys=40)
        query.processAllAvailable()
        usage = watch.cluster.wait_until(lambda: with_a_batch(watch.bridge.drain()), "a batch's figures")
        query.stop()
        return usage

    file_stream.lines_per_file = 40
    file_stream.write(keys=40)
    return run


def with_a_batch(usage: Any) -> Any:
    return usage if usage.batches else None


def counts(frame: Any) -> Any:
    return frame.groupBy("k").agg(F.count("*").alias("n"))


def groups(usage: Any) -> Any:
    (found,) = usage.groups.values()
    return found


def test_garbage_collection_is_told_apart_from_a_groups_own_work(measure: Any, file_stream: Any) -> None:
    """One key has its executor collect garbage again and again: its key group did not work for as long as it took."""
    collects = F.expr("concat(" + ", ".join(["reflect('java.lang.System', 'gc')"] * COLLECTS) + ")")
    usage = measure(counts(file_stream.read()).withColumn("gc", F.when(F.col("k") == "k7", collects)))
    worst, *others = sorted(groups(usage), key=lambda one: -one.gc_s)
    assert worst.gc_s > 0.5 * worst.busy_s, f"{worst.gc_s} s of {worst.busy_s} s"
    assert worst.gc_s > 10 * max(one.gc_s for one in others if one.executor_id != worst.executor_id)
    assert all(0.0 <= one.gc_s <= one.busy_s + 0.05 for one in groups(usage))


def test_what_is_read_from_other_executors_is_told_apart_from_what_is_there(measure: Any, file_stream: Any) -> None:
    """One file is one source task, so that one executor has all of the shuffle and the others must fetch it."""
    usage = measure(counts(file_stream.read()))
    local = {one.executor_id for one in groups(usage) if one.local_bytes}
    remote = {one.executor_id for one in groups(usage) if one.remote_bytes}
    assert len(local) <= 1
    assert remote
    assert not local & remote
    assert all(one.local_bytes + one.remote_bytes > 0 for one in groups(usage) if one.records)
    assert all(0.0 <= one.fetch_wait_s <= one.busy_s + 0.05 for one in groups(usage))


def test_another_job_of_the_driver_is_no_load_and_its_slots_are_waited_for(
    measure: Any, file_stream: Any, spark_cluster: Any, tmp_path: pathlib.Path
) -> None:
    """The other job has every slot until a stage of the query has waited for one."""
    context, go = spark_cluster.session.sparkContext, tmp_path / "go"
    rows = context.parallelize(range(SLOTS), SLOTS).map(holding(str(go)))
    threads = [threading.Thread(target=rows.collect), threading.Thread(target=release, args=(spark_cluster, go))]

    def beside() -> None:
        threads[0].start()
        spark_cluster.wait_until(lambda: (SLOTS, SLOTS) in stages(context), "the other job's tasks")
        threads[1].start()

    usage = measure(counts(file_stream.read()), beside)
    for thread in threads:
        thread.join(60.0)
    (found,) = usage.stages.values()
    (source,) = (one for one in found if one.stage == "free-0.0")
    assert source.wait_s >= HELD_S, "its task waited for a slot that the other job had"
    own_s = sum(stage.busy_s for stage in found)
    assert sum(one.busy_s for one in groups(usage)) + sum(usage.other_busy_s.values()) == pytest.approx(own_s, abs=0.01)
    assert sum(usage.executor_busy_s.values()) - own_s >= SLOTS * HELD_S, "executors count every task"


def holding(path: str) -> Callable[[int], int]:
    """A task that keeps its slot until the file is there. It is sent to executors, which do not know this module."""

    def hold(row: int) -> int:
        until = time.monotonic() + 60.0
        while time.monotonic() < until and not os.path.exists(path):
            time.sleep(0.02)
        return row

    return hold


def stages(context: Any) -> list[tuple[int, int]]:
    """Tasks of each stage that Spark has submitted, and how many of them run."""
    tracker = context.statusTracker()
    found = [tracker.getStageInfo(stage) for stage in tracker.getActiveStageIds()]
    return [(one.numTasks, one.numActiveTasks) for one in found if one is not None]


def release(cluster: Any, go: pathlib.Path) -> None:
    """Lets the slots go once a stage has waited for one."""
    context = cluster.session.sparkContext
    cluster.wait_until(lambda: any(tasks and not active for tasks, active in stages(context)), "a stage that waits")
    time.sleep(2 * HELD_S)
    go.touch()
