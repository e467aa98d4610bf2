"""The series of batches: rows between readings, bounded, and what counters that start anew make of it."""

import numpy as np
import pytest

from streamjob_operator.codec import decode, encode
from streamjob_operator.measure.batches import MOST_VALUES, Totals, series_of
from streamjob_operator.series import BatchSeries


def reading(at_s: float, batches: int, *busy_s: float, warmup_s: float = 0.0) -> Totals:
    return Totals(
        at_s=at_s,
        batches=batches,
        batch_s=2.0 * batches,
        busy_s=np.array(busy_s),
        warmup_s=np.full(len(busy_s), warmup_s),
    )


def test_a_row_is_what_happened_between_two_readings() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0), reading(19.0, 4, 9.0, 7.5)])
    assert series is not None
    assert series.ended_at_s.tolist() == [13.0, 19.0]
    assert series.row_s.tolist() == [3.0, 6.0]
    assert series.batches.tolist() == [1, 2]
    assert series.batch_s.tolist() == [2.0, 4.0]
    assert series.busy_s.tolist() == [[1.0, 2.0], [3.0, 0.5]]


def test_what_moves_cost_is_in_no_row_and_a_counter_that_starts_anew_is_counted_from_zero() -> None:
    series = series_of([reading(0.0, 1, 50.0), reading(1.0, 2, 51.0, warmup_s=0.75), reading(2.0, 3, 0.5)])
    assert series is not None
    assert series.busy_s.tolist() == [[0.25], [0.5]]


@pytest.mark.parametrize("readings", [[], [reading(0.0, 1, 1.0)], [reading(0.0, 1, 1.0), reading(1.0, 1, 1.0)]])
def test_without_a_batch_between_readings_there_is_none(readings: list[Totals]) -> None:
    assert series_of(readings) is None


def test_it_is_bounded_and_loses_no_second() -> None:
    groups = MOST_VALUES // 8
    readings = [reading(float(at), at, *([float(at)] * groups)) for at in range(100)]
    series = series_of(readings)
    assert series is not None
    assert series.busy_s.size <= MOST_VALUES
    assert len(series.batches) == 7
    assert series.batches.sum() == 99
    assert series.busy_s.sum(axis=0).tolist() == [99.0] * groups


def test_many_key_groups_leave_one_row() -> None:
    series = series_of([reading(float(at), at, *([1.0 * at] * (MOST_VALUES + 1))) for at in range(3)])
    assert series is not None
    assert series.batches.tolist() == [2]


def test_it_comes_back_from_a_file() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0)])
    assert series is not None
    again = decode(BatchSeries, encode(series))
    assert again.busy_s.tolist() == series.busy_s.tolist()
    assert again.busy_s.shape == (1, 2)
    assert again.batches.dtype == np.int64
    assert again.trouble(2) is None


def test_a_series_that_is_none_says_why() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0)])
    assert series is not None
    assert series.trouble(3) == "busy_s: shape (1, 2) given, (1, 3) is needed"
    short = BatchSeries(
        ended_at_s=series.ended_at_s,
        row_s=np.array([1.0, 1.0]),
        batches=series.batches,
        batch_s=series.batch_s,
        busy_s=series.busy_s,
    )
    assert short.trouble(2) == "row_s: 2 values given for 1 rows"
    wrong = BatchSeries(
        ended_at_s=series.ended_at_s,
        row_s=series.row_s,
        batches=series.batches,
        batch_s=series.batch_s,
        busy_s=-series.busy_s,
    )
    assert wrong.trouble(2) == "a number of it is below 0 or not finite"
