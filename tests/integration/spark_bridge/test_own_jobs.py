"""Jobs that a query's own code starts in a batch: from threads of its own, and under names of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import inside
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
PARTITIONS = 8
BATCHES = 7  # more than plans are kept of


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
