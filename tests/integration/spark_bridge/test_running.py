"""The rows of a batch that runs, as Spark's own tasks tell them before it ends."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark
PATIENCE_S = 120.0


class Held:
    """A foreachBatch sink that stays in a batch after its rows are there, until it is let go."""

    def __init__(self) -> None:
        self.hold = False
        self.there, self.go = threading.Event(), threading.Event()

    def __call__(self, frame: Any, _: int) -> None:
        frame.collect()
        if self.hold:
            self.there.set()
            assert self.go.wait(PATIENCE_S)


@pytest.fixture
def held() -> Iterator[Held]:
    sink = Held()
    yield sink
    sink.go.set()


def counted(frame: Any, _: Any, __: Any) -> Any:
    return frame.groupBy("k").count()


def with_a_table(frame: Any, session: Any, folder: Any) -> Any:
    """Each batch reads the table's rows besides."""
    session.range(500).withColumn("k", F.concat(F.lit("k"), "id")).write.parquet(str(folder / "table"))
    return frame.join(session.read.parquet(str(folder / "table")), "k", "left").groupBy("k").count()


@pytest.mark.parametrize("query_of", [counted, with_a_table])
def test_rows_are_told_once_they_are_read(
    query_of: Callable[..., Any], watch: Any, file_stream: Any, held: Held, tmp_path: Any
) -> None:
    file_stream.write()
    frame = query_of(file_stream.read(), watch.cluster.session, tmp_path)
    writer = frame.writeStream.outputMode("update").option("checkpointLocation", file_stream.checkpoint)
    query = writer.foreachBatch(held).start()
    watch.run(query)
    assert watch.bridge.drain().running == {}, "no batch runs"
    while watch.bridge.wait_for_boundary(0.1):
        pass
    held.hold, file_stream.lines_per_file = True, 700
    file_stream.write()
    assert held.there.wait(PATIENCE_S)
    watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    assert watch.bridge.wait_for_boundary(10.0) is False, "no batch has ended"
    assert watch.bridge.changed(), "more rows than before end the agent's wait"
    (told,) = watch.bridge.drain().running.values()
    assert told.batch_id == 1
    table_rows = 500 if query_of is with_a_table else 0
    assert told.rows == round((700 + table_rows) * 200 / (200 + table_rows))
    assert told.rows <= 700, "at least so many have come"
    held.go.set()
    watch.run(query)
    assert watch.bridge.drain().running == {}
    query.stop()
