"""Operators that are not one plain aggregation: joins, pandas state, two of them in one stage, one without keys."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pandas as pd
import pytest
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

from streamjob_agent.wire import GroupKey

pytestmark = pytest.mark.spark


def append_to(sink: Any, frame: Any, checkpoint: str, mode: str = "append") -> Any:
    return frame.writeStream.outputMode(mode).foreachBatch(sink).option("checkpointLocation", checkpoint).start()


def totals_in_state(stream: Any, known: Sequence[tuple[str, int, int]] = ()) -> Any:
    """Counts and sums by key that Python keeps in a store of column families; `known` ones are there to begin with."""
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

        def handleInitialState(self, key: Any, first: pd.DataFrame, timers: Any) -> None:  # noqa: N802 - theirs
            self.totals.update((int(first["n"].iloc[0]), int(first["total"].iloc[0])))

        def close(self) -> None:
            pass

    grouped, schema = stream.read().groupBy("k"), "k string, n long, total long"
    first = stream.session.createDataFrame(list(known), schema).groupBy("k") if known else None
    return grouped.transformWithStateInPandas(Totals(), schema, "Update", "None", initialState=first)


def begun(watch: Any, start: Callable[[], Any]) -> tuple[Any, dict[GroupKey, str]]:
    """A query that has run what there is, and where. Spark gives its Python in the driver ten seconds to begin."""
    while True:
        query = start()
        try:
            return query, watch.run(query)
        except StreamingQueryException as late:
            if "failed to connect back" not in str(late):
                raise


KNOWN = tuple((f"k{i}", 1000 + i, 10**6 * i) for i in range(0, 30, 2))
"""An initial state: of some of the keys that come, and of some that do not."""


def with_known(stream: Any) -> dict[str, tuple[int, int]]:
    """Key to (count, sum) of everything written, and of KNOWN."""
    first = {key: (count, total) for key, count, total in KNOWN}
    return {
        key: (count + first.get(key, (0, 0))[0], total + first.get(key, (0, 0))[1])
        for key, (count, total) in stream.expected().items()
    }


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
    query, seen = begun(
        watch, lambda: append_to(collected, totals_in_state(file_stream), file_stream.checkpoint, "update")
    )
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]
    wanted = watch.move_all(query, all_on(watch, seen, 1))
    file_stream.write(keys=12)
    assert watch.run(query) == wanted
    assert collected.rows == file_stream.expected()


def test_key_groups_with_an_initial_state_are_even_from_the_second_batch_on_and_move_as_any_other(
    watch: Any, file_stream: Any, collected: Any
) -> None:
    """Batch 0 takes it in by tasks that have no executor of their own."""

    def start() -> Any:
        return append_to(collected, totals_in_state(file_stream, KNOWN), file_stream.checkpoint, "update")

    file_stream.write(keys=12)
    query, first = begun(watch, start)
    assert len(first) == 8
    file_stream.write(keys=20)
    seen = watch.run(query)
    assert sorted(collections.Counter(seen.values()).values()) == [2, 3, 3]
    for index in (1, 2):
        wanted = watch.move_all(query, all_on(watch, seen, index))
        file_stream.write(keys=12)
        assert watch.run(query) == wanted
    query.stop()
    file_stream.write(keys=20)
    query, again = begun(watch, start)
    assert again == wanted, "it is started with its initial state again"
    query.stop()
    assert collected.rows == with_known(file_stream)
    assert watch.failed_tasks == 0
    assert not watch.bridge.diagnostics()[0], "faults"


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
