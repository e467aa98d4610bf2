"""Jobs that a query's own code starts in a batch: from threads of its own, and under names of its own."""

from __future__ import annotations

import os
import pathlib
import time
from collections.abc import Callable
from typing import Any

import inside
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
PARTITIONS = 8
BATCHES = 7  # more than plans are kept of
OTHER_STAGES = 600  # more than are kept of those that have ended


def run(watch: Any, file_stream: Any, sink: Callable[[Any, int], None]) -> list[Any]:
    """The usage of each of a query's batches."""
    frame = file_stream.read().groupBy("k").agg(F.count("*").alias("n"))
    writer = frame.writeStream.outputMode("update").option("checkpointLocation", file_stream.checkpoint)
    query = writer.foreachBatch(sink).start()
    usages: list[Any] = []
    for _ in range(BATCHES):
        file_stream.write()
        query.processAllAvailable()
        usages.append(watch.cluster.wait_until(lambda: _whole(watch), "a batch's figures"))
    query.stop()
    return usages


def _whole(watch: Any) -> Any:
    watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    usage = watch.bridge.drain()
    return usage if usage.batches else None


def counted(usage: Any) -> int:
    return sum(group.tasks for groups in usage.groups.values() for group in groups)


def operators(usage: Any) -> set[str]:
    return {one.stage for stages in usage.stages.values() for one in stages if one.stage.startswith("operator")}


def test_a_batch_whose_jobs_have_groups_of_the_jobs_own_is_measured(watch: Any, file_stream: Any) -> None:
    context = watch.cluster.session.sparkContext

    def sink(frame: Any, batch: int) -> None:
        context.setJobGroup(f"totals of {batch}", "first")
        frame.collect()
        context.setJobGroup(f"marks of {batch}", "second")
        watch.cluster.session.range(2).collect()

    assert [counted(usage) for usage in run(watch, file_stream, sink)] == [PARTITIONS] * BATCHES


def test_a_batch_whose_jobs_are_started_by_a_thread_that_an_earlier_one_made_is_measured_and_begins_once(
    watch: Any, file_stream: Any
) -> None:
    late = inside.compiled(watch.cluster.session, "Late")
    begun = watch.bridge.diagnostics()[1]["batches"]
    usages = run(watch, file_stream, lambda frame, _: late.count(frame._jdf))
    assert watch.bridge.diagnostics()[1]["batches"] - begun == BATCHES
    assert [counted(usage) for usage in usages] == [PARTITIONS] * BATCHES
    assert {frozenset(operators(usage)) for usage in usages} == {frozenset({"operator-0"})}


def test_a_stage_that_takes_long_is_measured_however_many_others_begin_and_end_meanwhile(
    watch: Any, file_stream: Any, tmp_path: pathlib.Path
) -> None:
    """As beside other queries of the driver, whose batches are short."""
    there, go = tmp_path / "there", tmp_path / "go"
    hold = holding("k7", str(there), str(go))
    frame = file_stream.read().groupBy("k").agg(F.count("*").alias("n"))
    writer = frame.writeStream.outputMode("update").option("checkpointLocation", file_stream.checkpoint)
    query = writer.foreachBatch(lambda rows, _: rows.rdd.map(hold).collect()).start()
    file_stream.write()
    watch.cluster.wait_until(there.exists, "a key group's task")
    other = watch.cluster.session.sparkContext._jsc.parallelize([1], 1)
    for _ in range(OTHER_STAGES):
        other.count()
    go.touch()
    query.processAllAvailable()
    usage = watch.cluster.wait_until(lambda: _whole(watch), "a batch's figures")
    query.stop()
    assert counted(usage) == PARTITIONS


def holding(key: str, there: str, go: str) -> Callable[[Any], Any]:
    """A row of this key says that it is there, and keeps its task until it may go; for executors alone."""

    def hold(row: Any) -> Any:
        if row[0] == key:
            open(there, "w").close()
            until = time.monotonic() + 120.0
            while time.monotonic() < until and not os.path.exists(go):
                time.sleep(0.02)
        return row

    return hold
