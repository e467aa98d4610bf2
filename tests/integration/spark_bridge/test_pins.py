"""Key groups that must not be opened anew: those of a join's partition 0 on Spark 3.5."""

from __future__ import annotations

import collections
from typing import Any

import pytest
from test_placement import rotated

from streamjob_agent.wire import GroupKey

pytestmark = pytest.mark.spark

CHECK = "spark.sql.streaming.stateStore.stateSchemaCheck"
FIRST = GroupKey(operator=0, partition=0)


def filled(two_streams: Any) -> tuple[Any, Any]:
    """Both streams, with a file each."""
    (left, _), (right, _) = two_streams
    for stream in (left, right):
        stream.lines_per_file = 40
        stream.write(keys=10)
    return left, right


def joined(streams: tuple[Any, Any], pairs: collections.Counter[tuple[str, int, int]]) -> Any:
    """An inner join of two streams without watermarks; its answer goes to `pairs`."""

    def keep(frame: Any, _: int) -> None:
        pairs.update((row.k, row.v, row.w) for row in frame.collect())

    left, right = (stream.read() for stream in streams)
    writer = left.join(right.withColumnRenamed("v", "w"), "k").writeStream.outputMode("append").foreachBatch(keep)
    return writer.option("checkpointLocation", streams[0].checkpoint).start()


def expected(left: Any, right: Any) -> collections.Counter[tuple[str, int, int]]:
    return collections.Counter((k, v, w) for k, v in left.written for other, w in right.written if k == other)


def pinned(watch: Any, query: Any) -> frozenset[GroupKey]:
    (told,) = [one for one in watch.bridge.look().queries if one.query_id == query.id]
    return told.pinned


def test_a_join_without_watermarks_goes_on_with_rows_of_one_side_alone_once_what_may_move_has_moved(
    watch: Any, two_streams: Any
) -> None:
    left, right = filled(two_streams)
    pairs: collections.Counter[tuple[str, int, int]] = collections.Counter()
    query = joined((left, right), pairs)
    seen = watch.run(query)
    older = watch.bridge.spark_version().startswith("3.5")
    stays = pinned(watch, query)
    assert stays == ({FIRST} if older else frozenset())
    elsewhere = rotated(watch, seen)
    moved = watch.move_all(query, {key: executor for key, executor in elsewhere.items() if key not in stays})
    right.write(keys=10)
    assert watch.run(query) == {**seen, **moved}
    assert pairs == expected(left, right)
    query.stop()


def test_nothing_stays_where_schemas_are_not_compared(watch: Any, two_streams: Any) -> None:
    left, right = filled(two_streams)
    watch.cluster.session.conf.set(CHECK, "false")
    try:
        query = joined((left, right), collections.Counter())
        watch.run(query)
        assert pinned(watch, query) == frozenset()
        query.stop()
    finally:
        watch.cluster.session.conf.unset(CHECK)
