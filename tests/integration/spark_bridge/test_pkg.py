"""A hot key in two halves on real executors: the same result, and half of the rows for its key group."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest

from streamjob_agent.pkg import two_choices

pytestmark = pytest.mark.spark

STATE = "n long, total long"
HOT_ROWS, OTHER_ROWS, OTHER_KEYS = 400, 100, 25


@pytest.fixture(autouse=True)
def _as_users_have_it(spark_cluster: Any) -> Iterator[None]:
    """Spark's own check of chained operators, which other tests turn off."""
    check = "spark.sql.streaming.statefulOperator.checkCorrectness.enabled"
    before = spark_cluster.session.conf.get(check)
    spark_cluster.session.conf.set(check, "true")
    yield
    spark_cluster.session.conf.set(check, before)


def count_and_sum() -> tuple[Callable[..., Any], Callable[..., Any]]:
    """Made in a function, so that executors get them by value: the tests' modules are not theirs."""

    def update(rows: Any, held: tuple[int, int] | None) -> tuple[int, int]:
        n, total = held or (0, 0)
        return n + len(rows), total + int(rows["v"].sum())

    def merge(first: tuple[int, int], second: tuple[int, int]) -> tuple[int, int]:
        return first[0] + second[0], first[1] + second[1]

    return update, merge


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
    update, merge = count_and_sum()
    busiest = []
    for (stream, sink), hot in zip(two_streams, ([], ["hot"]), strict=True):
        frame = two_choices(stream.read(), "k", update, merge, state=STATE, hot=hot)
        writer = frame.writeStream.outputMode("append").foreachBatch(sink)
        writer = writer.option("checkpointLocation", stream.checkpoint)
        busiest.append(most_records(watch, writer.start, lambda stream=stream: write_skewed(stream, 2)))
        assert sink.rows == stream.expected()
    whole, split = busiest
    assert whole >= 4 * HOT_ROWS
    assert 0.4 * whole <= split <= 0.65 * whole


def test_a_key_that_turns_hot_later_stays_exact(watch: Any, file_stream: Any, collected: Any) -> None:
    update, merge = count_and_sum()
    for hot in ([], ["hot", "k3"], ["k3"]):
        write_skewed(file_stream, 1)
        frame = two_choices(file_stream.read(), "k", update, merge, state=STATE, hot=hot, spread_by=["v"])
        writer = frame.writeStream.outputMode("append").foreachBatch(collected)
        query = writer.option("checkpointLocation", file_stream.checkpoint).start()
        query.processAllAvailable()
        query.stop()
        assert collected.rows == file_stream.expected()


def test_what_cannot_be_split_is_refused_with_a_sentence(file_stream: Any) -> None:
    update, merge = count_and_sum()
    frame = file_stream.read()
    with pytest.raises(ValueError, match="there is no column 'w'; there are k, v"):
        two_choices(frame, "w", update, merge, state=STATE, hot=[])
    with pytest.raises(ValueError, match="streamjob_candidate"):
        two_choices(frame.withColumnRenamed("v", "streamjob_candidate"), "k", update, merge, state=STATE, hot=[])
