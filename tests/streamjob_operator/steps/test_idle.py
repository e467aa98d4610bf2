"""What a query that waits for data is taken to do in its next batch, and since when it waits."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_operator.steps.idle import as_known, waits
from streamjob_operator.values import Snapshot

NOW_S, WINDOW_S = 1000.0, 10.0


def asleep(since_s: float | None = 990.0, **changes: object) -> Snapshot:
    """Two executors with two key groups each that did nothing within the window."""
    world = even(2, 2, 0.0)
    world.rates = {"batches": 0, "mean_batch_s": 0.0, "last_batch_s": 2.5, "idle_since_s": since_s}
    return dataclasses.replace(world.observe(NOW_S, WINDOW_S), **changes)  # type: ignore[arg-type]


def with_series(*rows: list[float], batches: list[int] | None = None) -> Snapshot:
    busy_s = np.array(rows)
    series = series_with(busy_s, row_s=np.ones(len(rows)), ended_s=900.0)
    if batches is not None:
        series = dataclasses.replace(series, batches=np.array(batches))
    return asleep(series=series)


def test_its_next_batch_is_like_the_mean_of_those_before() -> None:
    known = as_known(with_series([1.0, 2.0, 3.0, 4.0], [3.0, 2.0, 1.0, 0.0]))
    assert known.busy_s.tolist() == [2.0, 2.0, 2.0, 2.0]
    assert (known.rates.batches, known.rates.mean_batch_s, known.series) == (1, 2.5, None)


def test_a_row_of_several_batches_counts_as_several() -> None:
    assert as_known(with_series([4.0, 8.0, 0.0, 0.0], batches=[4])).busy_s.tolist() == [1.0, 2.0, 0.0, 0.0]


def test_the_batch_is_next_to_no_load_however_long_it_takes() -> None:
    known = as_known(with_series([1.0, 2.0, 3.0, 4.0]))
    assert known.window_s == pytest.approx(1000.0)
    assert as_known(with_series([0.01, 0.0, 0.0, 0.0])).window_s == WINDOW_S


@pytest.mark.parametrize("seen", [asleep(), with_series([0.0] * 4)], ids=["no series", "nothing in it"])
def test_where_nothing_is_known_all_key_groups_are_alike(seen: Snapshot) -> None:
    known = as_known(seen)
    assert known.busy_s.tolist() == [0.1] * 4
    assert known.window_s == pytest.approx(40.0)


def test_a_query_that_works_is_left_as_it_is() -> None:
    awake = asleep(since_s=None)
    assert as_known(awake) is awake
    assert waits(awake) is None


@pytest.mark.parametrize(("since_s", "said"), [(940.0, "1m"), (999.6, "0s"), (1007.0, "0s")])
def test_for_how_long_it_waits_is_said_and_never_less_than_nothing(since_s: float, said: str) -> None:
    assert waits(asleep(since_s)) == f"the query has waited for data for {said}"
