"""Queries that do not stop when they are told to."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
GRACE_S = 0.5


def test_one_that_does_not_stop_keeps_no_other_from_being_told_to(
    bridge: Any, spark_cluster: Any, file_stream: Any
) -> None:
    """A batch that hears no interrupt, as one that waits for Python does: Spark's `stop` throws after its timeout."""
    inside, may_end = set(), threading.Event()
    session = spark_cluster.session
    session.conf.set("spark.sql.streaming.stopTimeout", "200ms")
    file_stream.write(files=1)

    def start(name: str) -> Any:
        def waits(_frame: Any, _batch: int) -> None:
            inside.add(name)
            may_end.wait(60.0)

        counts = file_stream.read().groupBy("k").agg(F.count("*").alias("n"))
        writer = counts.writeStream.outputMode("update").foreachBatch(waits).queryName(name)
        return writer.option("checkpointLocation", f"{file_stream.checkpoint}-{name}").start()

    try:
        queries = [start("first"), start("second")]
        spark_cluster.wait_until(lambda: len(inside) == len(queries), "both in a batch")
        told = bridge.stop_queries(GRACE_S)
        assert set(told) == {query.id for query in queries}
        assert all("TimeoutException" in words for words in told.values())
    finally:
        may_end.set()
        session.conf.unset("spark.sql.streaming.stopTimeout")
    for query in queries:
        spark_cluster.wait_until(lambda query=query: not query.isActive, "its end, as it was told to stop")
