"""A query that is stopped at the gate: whose plan may leave the log again, and whose must not."""

from __future__ import annotations

import contextlib
import pathlib
from typing import Any

import pytest
from inside import call, field
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
CLOSED_S = 60.0


def newest(stream: Any, log: str) -> int:
    return max(int(one.name) for one in (pathlib.Path(stream.checkpoint) / log).iterdir() if one.name.isdecimal())


def test_a_batch_that_an_earlier_run_has_begun_stays_planned(
    bridge: Any, spark_cluster: Any, file_stream: Any, collected: Any
) -> None:
    """Its rows may have been written: they must come again under the same number, and no others."""

    def start() -> Any:
        counts = file_stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
        writer = counts.writeStream.outputMode("update").foreachBatch(collected)
        return writer.option("checkpointLocation", file_stream.checkpoint).start()

    def fails(batch: int) -> None:
        if batch == 1:
            raise ValueError("after rows of it had been written, for all that anybody knows")

    file_stream.write(files=2)
    collected.before_collect = fails
    first = start()
    with contextlib.suppress(StreamingQueryException):
        first.processAllAvailable()
    assert (newest(file_stream, "offsets"), newest(file_stream, "commits")) == (1, 0)
    collected.before_collect = None
    bridge.stop_queries(CLOSED_S)  # of none; the gate is closed from now on
    second = start()
    gate = field(field(bridge._probe, "hook"), "gate")
    spark_cluster.wait_until(lambda: call(spark_cluster.session, gate, "holds", second.id), "the query at the gate")
    second.stop()
    assert (newest(file_stream, "offsets"), newest(file_stream, "commits")) == (1, 0)
