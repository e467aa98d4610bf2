"""Operators that are not one plain aggregation: joins, pandas state, two of them in one stage, one without keys."""

from __future__ import annotations

import collections
from collections.abc import Iterator
from typing import Any

import pandas as pd
import pytest
from pyspark.sql import functions as F

pytestmark = pytest.mark.spark


def append_to(sink: Any, frame: Any, checkpoint: str, mode: str = "append") -> Any:
    return frame.writeStream.outputMode(mode).foreachBatch(sink).option("checkpointLocation", checkpoint).start()


def totals_in_state(stream: Any) -> Any:
    """Counts and sums by key that Python keeps in a store of column families."""
    processor = pytest.importorskip("pyspark.sql.streaming.stateful_processor", reason="Spark 4.0 and newer have it")

    class Totals(processor.StatefulProcessor):  # type: ignore[misc,name-defined]
        def init(self, handle: Any) -> None:
            self.totals = handle.getValueState("totals", "n long, total long")

        def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timers: Any) -> Iterator[pd.DataFrame]:  # noqa: N802 - theirs
            count, value = self.totals.get() if self.totals.exists() else (0, 0)
            for frame in rows:
                count, value = count + len(frame), value + int(frame["v"].sum())
            self.totals.update((count, value))
            yield pd.DataFrame({"k": [key[0]], "n": [count], "total": [value]})

        def close(self) -> None:
            pass

    grouped = stream.read().groupBy("k")
    return grouped.transformWithStateInPandas(Totals(), "k string, n long, total long", "Update", "None")


def all_on(watch: Any, seen: Any, index: int) -> Any:
    return dict.fromkeys(seen, watch.executors()[index])


def test_join_moves_all_of_its_stores(watch: Any, file_stream: Any) -> None:
    pairs: collections.Counter[tuple[str, int, int]] = collections.Counter()

    def keep(frame: Any, _: int) -> None:
        pairs.update((row.k, row.v, row.w) for row in frame.collect())

    file_stream.lines_per_file = 40
    file_stream.write(keys=10)
    left = file_stream.read()
    right = file_stream.read().withColumnRenamed("v", "w")
    query = append_to(keep, left.join(right, "k"), file_stream.checkpoint)
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]

    wanted = watch.move_all(query, all_on(watch, seen, 2))
    file_stream.write(keys=10)
    assert watch.run(query) == wanted
    stores = [line.split("\t") for line in watch.bridge._probe.locations(query.id).splitlines()]
    assert len({store for _, _, _, store, _ in stores}) == 4
    owner = watch.executors()[2].executor_id
    assert {location.rsplit("_", 1)[1] for *_, location in stores} == {owner}

    by_key = collections.defaultdict(list)
    for key, value in file_stream.written:
        by_key[key].append(value)
    expected = collections.Counter((k, v, w) for k, values in by_key.items() for v in values for w in values)
    assert pairs == expected


def test_pandas_state(watch: Any, file_stream: Any, collected: Any) -> None:
    def total(key: tuple[str], frames: Iterator[pd.DataFrame], state: Any) -> Iterator[pd.DataFrame]:
        count, value = state.get if state.exists else (0, 0)
        for frame in frames:
            count, value = count + len(frame), value + int(frame["v"].sum())
        state.update((count, value))
        yield pd.DataFrame({"k": [key[0]], "n": [count], "total": [value]})

    file_stream.write(keys=12)
    frame = file_stream.read().groupBy("k")
    schema = "k string, n long, total long"
    totals = frame.applyInPandasWithState(total, schema, "n long, total long", "update", "NoTimeout")
    query = append_to(collected, totals, file_stream.checkpoint, "update")
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]
    wanted = watch.move_all(query, all_on(watch, seen, 1))
    file_stream.write(keys=12)
    assert watch.run(query) == wanted
    assert collected.rows == file_stream.expected()


def test_transform_with_state(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write(keys=12)
    query = append_to(collected, totals_in_state(file_stream), file_stream.checkpoint, "update")
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]
    wanted = watch.move_all(query, all_on(watch, seen, 1))
    file_stream.write(keys=12)
    assert watch.run(query) == wanted
    assert collected.rows == file_stream.expected()


def test_two_operators_of_one_stage_are_one_key_group(watch: Any, file_stream: Any, collected: Any) -> None:
    file_stream.write(keys=20)
    once = file_stream.read().dropDuplicates(["k"]).groupBy("k").agg(F.count("*").alias("n"))
    query = append_to(collected, once, file_stream.checkpoint, "update")
    seen = watch.run(query)
    (found,) = watch.bridge.look().queries
    assert len(found.operators) == 1
    assert len(seen) == 8

    wanted = watch.move_all(query, all_on(watch, seen, 0))
    file_stream.write(keys=30)
    assert watch.run(query) == wanted
    stores = [line.split("\t") for line in watch.bridge._probe.locations(query.id).splitlines()]
    assert len({operator for _, _, operator, _, _ in stores}) == 2
    assert collected.rows == dict.fromkeys(file_stream.expected(), (1,))


def test_operator_without_keys_has_one_group(watch: Any, file_stream: Any) -> None:
    totals = []
    file_stream.write(files=2)
    total = file_stream.read().agg(F.sum("v").alias("total"))
    query = append_to(lambda frame, _: totals.append(frame.first().total), total, file_stream.checkpoint, "complete")
    seen = watch.run(query)
    assert len(seen) == 1
    (found,) = watch.bridge.look().queries
    assert dict(found.operators) == {0: 1}
    assert totals[-1] == sum(value for _, value in file_stream.written)
