"""A hot key in two halves on real executors: the same result, and half of the rows for its key group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamjob_agent.pkg import two_choices

pytestmark = pytest.mark.spark

VALUES = {"columns": "n long, total long", "merge": {"n": "sum", "total": "sum"}}
HOT_ROWS, OTHER_ROWS, OTHER_KEYS = 400, 100, 25


@pytest.fixture(autouse=True)
def _as_users_have_it(spark_cluster: Any) -> Iterator[None]:
    """Spark's own check of chained operators, which other tests turn off."""
    check = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"
    before = spark_cluster.session.conf.get(check)
    spark_cluster.session.conf.set(check, "true")
    yield
    spark_cluster.session.conf.set(check, before)


def count_and_sum() -> Callable[[Any], tuple[int, int]]:
    """Made in a function, so that executors get it by value: the tests' modules are not theirs."""

    def part(rows: Any) -> tuple[int, int]:
        return len(rows), int(rows["v"].sum())

    return part


def write_skewed(stream: Any, files: int) -> None:
    """Files in which four of five rows have the key `hot`."""
    for _ in range(files):
        start = len(stream.written)
        rows = [("hot", start + i) for i in range(HOT_ROWS)]
        rows += [(f"k{i % OTHER_KEYS}", start + HOT_ROWS + i) for i in range(OTHER_ROWS)]
        draft = stream.folder / "draft"
        draft.write_text("".join(f"{key},{value}\n" for key, value in rows))
        draft.rename(stream.input / f"{start:08d}.csv")
        stream.written += rows


def most_records(watch: Any, start: Callable[[], Any], write: Callable[[], None]) -> int:
    """Rows that the busiest key group of the query has taken."""
    watch.bridge.drain()
    query = start()
    most: dict[Any, int] = {}
    for _ in range(2):
        write()
        query.processAllAvailable()
    watch.cluster.session.sparkContext._jsc.sc().listenerBus().waitUntilEmpty()
    for group in watch.bridge.drain().groups.get(str(query.id), ()):
        most[group.key] = most.get(group.key, 0) + group.records
    query.stop()
    return max(most.values())


def test_a_hot_key_is_split_and_its_result_is_exact(watch: Any, two_streams: Any) -> None:
    part = count_and_sum()
    busiest = []
    for (stream, sink), hot in zip(two_streams, ([], ["hot"]), strict=True):
        frame = two_choices(stream.read(), "k", part, **VALUES, hot=hot)
        writer = frame.writeStream.outputMode("update").foreachBatch(sink)
        writer = writer.option("checkpointLocation", stream.checkpoint)
        busiest.append(most_records(watch, writer.start, lambda stream=stream: write_skewed(stream, 2)))
        assert sink.rows == stream.expected()
    whole, split = busiest
    assert whole >= 4 * HOT_ROWS
    assert 0.4 * whole <= split <= 0.65 * whole


def test_hot_keys_and_partitions_may_change_between_runs(watch: Any, file_stream: Any, collected: Any) -> None:
    part = count_and_sum()
    session = file_stream.session
    before = session.conf.get("spark.sql.shuffle.partitions")
    for hot, partitions in (([], before), (["hot", "k3"], before), (["hot"], "1"), (["k3"], before)):
        write_skewed(file_stream, 1)
        session.conf.set("spark.sql.shuffle.partitions", partitions)
        frame = two_choices(file_stream.read(), "k", part, **VALUES, hot=hot, spread_by=["v"])
        session.conf.set("spark.sql.shuffle.partitions", before)
        writer = frame.writeStream.outputMode("update").foreachBatch(collected)
        query = writer.option("checkpointLocation", file_stream.checkpoint).start()
        query.processAllAvailable()
        query.stop()
        assert collected.rows == file_stream.expected()


def test_what_cannot_be_split_is_refused_with_a_sentence(file_stream: Any) -> None:
    part, frame = count_and_sum(), file_stream.read()
    with pytest.raises(ValueError, match="there is no column 'w'; there are k, v"):
        two_choices(frame, "w", part, **VALUES, hot=[])
    with pytest.raises(ValueError, match="streamjob_candidate"):
        two_choices(frame.withColumnRenamed("v", "streamjob_candidate"), "k", part, **VALUES, hot=[])
    with pytest.raises(ValueError, match="merge of 'n': 'avg' given, one of sum, min, max is needed"):
        two_choices(frame, "k", part, columns="n long", merge={"n": "avg"}, hot=[])
    with pytest.raises(ValueError, match="merge of 'n': none given"):
        two_choices(frame, "k", part, columns="n long", merge={}, hot=[])
