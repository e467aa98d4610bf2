"""The series of batches: rows between readings, bounded, and what counters that start anew make of it."""

import dataclasses

import numpy as np
import pytest

from streamjob_operator.codec import decode, encode
from streamjob_operator.measure.batches import MOST_VALUES, NEWEST, Figure, Totals, figures_of, read_less, series_of
from streamjob_operator.series import BatchSeries
from streamjob_operator.values import StageView


def reading(at_s: float, batches: int, *busy_s: float, warmup_s: float = 0.0, executors: str = "0 1") -> Totals:
    return Totals(
        at_s=at_s,
        batches=batches,
        busy_s=np.array(busy_s),
        warmup_s=np.full(len(busy_s), warmup_s),
        records=10.0 * np.array(busy_s),
        figures=figures(batches),
        executors=frozenset(executors.split()),
        owners=np.arange(len(busy_s)),
    )


def figures(batches: int) -> dict[Figure, float]:
    """After so many batches: of 2 s and 100 rows each, of which planning took 0.5 s, with one stage of 1.5 s."""
    stage = StageView(operator=3, level=0, wall_s=1.5, busy_s=3.0, longest_s=1.0, wait_s=0.25)
    once = figures_of(
        batch_s=2.0, input_rows=100.0, other_busy_s=0.5, moved=2, parts_s={"queryPlanning": 0.5}, stages=[stage]
    )
    return {figure: batches * value for figure, value in once.items()}


def test_a_row_is_what_happened_between_two_readings() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0), reading(19.0, 4, 9.0, 7.5)])
    assert series is not None
    assert series.ended_at_s.tolist() == [13.0, 19.0]
    assert series.row_s.tolist() == [3.0, 6.0]
    assert series.batches.tolist() == [1, 2]
    assert series.batch_s.tolist() == [2.0, 4.0]
    assert series.busy_s.tolist() == [[1.0, 2.0], [3.0, 0.5]]


def test_rows_records_parts_and_stages_are_told_batch_by_batch() -> None:
    series = series_of([reading(10.0, 1, 5.0), reading(14.0, 2, 6.0), reading(24.0, 4, 9.0)])
    assert series is not None
    assert series.input_rows.tolist() == [100.0, 200.0]
    assert series.input_rps.tolist() == [25.0, 20.0]
    assert series.records.tolist() == [[10.0], [30.0]]
    assert series.other_busy_s.tolist() == [0.5, 1.0]
    assert series.moved.tolist() == [2, 4]
    assert {part: seconds.tolist() for part, seconds in series.parts_s.items()} == {"queryPlanning": [0.5, 1.0]}
    (stage,) = series.stages
    rows = series.stages[stage]
    assert stage == "operator-3"
    assert (rows.wall_s.tolist(), rows.busy_s.tolist()) == ([1.5, 3.0], [3.0, 6.0])
    assert (rows.longest_s.tolist(), rows.wait_s.tolist()) == ([1.0, 2.0], [0.25, 0.5])


def test_executors_that_came_or_went_are_counted() -> None:
    series = series_of([reading(0.0, 1, 1.0), reading(1.0, 2, 1.0, executors="1 2 3"), reading(2.0, 3, 1.0)])
    assert series is not None
    assert series.executors_changed.tolist() == [3, 3]


def test_what_moves_cost_is_in_no_row_and_a_counter_that_starts_anew_is_counted_from_zero() -> None:
    series = series_of([reading(0.0, 1, 50.0), reading(1.0, 2, 51.0, warmup_s=0.75), reading(2.0, 3, 0.5)])
    assert series is not None
    assert series.busy_s.tolist() == [[0.25], [0.5]]


@pytest.mark.parametrize("readings", [[], [reading(0.0, 1, 1.0)], [reading(0.0, 1, 1.0), reading(1.0, 1, 1.0)]])
def test_without_a_batch_between_readings_there_is_none(readings: list[Totals]) -> None:
    assert series_of(readings) is None


def test_it_is_bounded_and_loses_no_second() -> None:
    groups = MOST_VALUES // 16
    readings = [reading(float(at), at, *([float(at)] * groups)) for at in range(100)]
    series = series_of(readings)
    assert series is not None
    assert series.busy_s.size + series.records.size <= MOST_VALUES
    assert len(series.batches) == 7
    assert series.batches.sum() == 99
    assert series.busy_s.sum(axis=0).tolist() == [99.0] * groups


def test_the_newest_batches_keep_rows_of_their_own_where_readings_are_too_many() -> None:
    """What has just changed is told by single batches, so older ones are merged."""
    groups = MOST_VALUES // 16
    readings = [reading(float(at), at, *([float(at)] * groups)) for at in range(100)]
    series = series_of(readings)
    assert series is not None
    assert series.batches.tolist() == [19, 20, 19, 20, 19, 1, 1]
    assert series.ended_at_s[-2:].tolist() == [98.0, 99.0]


@pytest.mark.parametrize("most", [*range(2, 12), 40, 100])
@pytest.mark.parametrize("readings", [1, 2, 3, 5, 11, 12, 13, 40, 41, 300])
def test_what_is_left_out_is_never_more_than_needed(most: int, readings: int) -> None:
    kept = read_less(readings, MOST_VALUES // (2 * most)).tolist()
    assert len(kept) == min(readings, most)
    assert kept == sorted(set(kept))
    assert (kept[0], kept[-1]) == (0, readings - 1)
    newest = min(readings, max(1, most // 3), NEWEST)
    assert kept[-newest:] == list(range(readings - newest, readings))


def test_many_key_groups_leave_one_row() -> None:
    series = series_of([reading(float(at), at, *([1.0 * at] * (MOST_VALUES + 1))) for at in range(3)])
    assert series is not None
    assert series.batches.tolist() == [2]


def test_it_comes_back_from_a_file() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0)])
    assert series is not None
    again = decode(BatchSeries, encode(series))
    assert again.busy_s.tolist() == series.busy_s.tolist()
    assert again.busy_s.shape == again.records.shape == (1, 2)
    assert again.stages["operator-3"].wait_s.tolist() == [0.25]
    assert again.parts_s["queryPlanning"].tolist() == [0.5]
    assert again.batches.dtype == np.int64
    assert again.trouble(2) is None


def test_a_series_that_is_none_says_why() -> None:
    series = series_of([reading(10.0, 1, 5.0, 5.0), reading(13.0, 2, 6.0, 7.0)])
    assert series is not None
    assert series.trouble(3) == "busy_s: shape (1, 2) given, (1, 3) is needed"
    short = dataclasses.replace(series, row_s=np.array([1.0, 1.0]))
    assert short.trouble(2) == "row_s: 2 values given for 1 rows"
    unread = dataclasses.replace(series, records=series.records[:, :1])
    assert unread.trouble(2) == "records: shape (1, 1) given, (1, 2) is needed"
    parts = dataclasses.replace(series, parts_s={"addBatch": np.array([])})
    assert parts.trouble(2) == "parts_s.addBatch: 0 values given for 1 rows"
    wrong = dataclasses.replace(series, busy_s=-series.busy_s)
    assert wrong.trouble(2) == "a number of it is below 0 or not finite"
