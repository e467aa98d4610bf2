"""Where key groups run: evenly from the first batch on, then where the brain wants them, exact all the time."""

from __future__ import annotations

import collections
from typing import Any

import pytest
from pyspark.sql import functions as F  # noqa: N812 - the name everybody knows

pytestmark = pytest.mark.spark


def start_counts(stream: Any, sink: Any, name: str | None = None) -> Any:
    counts = stream.read().groupBy("k").agg(F.count("*").alias("n"), F.sum("v").alias("total"))
    writer = counts.writeStream.outputMode("update").foreachBatch(sink).option("checkpointLocation", stream.checkpoint)
    return (writer.queryName(name) if name else writer).start()


def test_self_test_passes(bridge: Any) -> None:
    assert set(bridge.self_test().values()) == {"ok"}


def test_first_batch_is_spread_evenly_and_moves_are_obeyed(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write()
    query = start_counts(file_stream, collected)
    first = watch.run(query)
    per_executor = collections.Counter(first.values())
    assert len(first) == 8
    assert sorted(per_executor.values()) == [2, 3, 3]

    target = watch.executors()[1]
    wanted = watch.move_all(query, dict.fromkeys(first, target))
    file_stream.write()
    assert watch.run(query) == wanted
    assert collected.rows == file_stream.expected()
    print(watch.bridge.diagnostics())
