"""Which rows and whose tasks count at which speed: rows of unlike length, times within a row, and tasks of nobody."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import series_with

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.turned import at_speed_1, names_of, seen_longer, turned
from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.pace import Pace
from streamjob_planners.capacity.turning import GroupRows, since

OWNER: IntArray = np.arange(15) % 3
OWNERS = tuple(str(one) for one in OWNER)
SLOW = Pace(speed=1 / 3, error=0.1)


def series(seconds_of_1: FloatArray, row_s: FloatArray | None = None) -> BatchSeries:
    """Rows of equal key groups, those of executor 1 so many times as long; the first row begins at 0."""
    lengths = np.ones(seconds_of_1.size) if row_s is None else row_s
    took_s = np.random.default_rng(8).lognormal(0.0, 0.08, (seconds_of_1.size, OWNER.size))
    busy_s = took_s * np.where(OWNER == 1, seconds_of_1[:, None], 1.0)
    found = series_with(busy_s, row_s=lengths, ended_s=float(lengths.sum()))
    return dataclasses.replace(found, records=np.ones(busy_s.shape), owners=np.tile(OWNER, (seconds_of_1.size, 1)))


def slow_from(row: int, rows: int, factor: float = 3.0) -> FloatArray:
    return np.where(np.arange(rows) >= row, factor, 1.0)


@pytest.mark.parametrize(("until_s", "told"), [(0.5, True), (-0.5, False)])
def test_what_was_before_the_beginning_of_the_first_row_is_forgotten(until_s: float, told: bool) -> None:
    well = {"1": Pace(past=((until_s, 0.4),))}
    found = seen_longer(series(np.ones(8), np.array([3.0, *[1.0] * 7])), OWNERS, well)
    assert found == (well if told else {})


@pytest.mark.parametrize("nobody", [False, True])
@pytest.mark.parametrize("executor", [0, 1, 2])
def test_one_fades_that_ran_nothing_in_the_newest_row(executor: int, nobody: bool) -> None:
    told, name = series(np.ones(8)), str(executor)
    assert told.owners is not None
    owners = told.owners.copy()
    owners[-1, np.equal(OWNER, executor)] = -1 if nobody else (executor + 1) % 3
    assert seen_longer(told, OWNERS, {name: SLOW}) == {name: SLOW}
    assert seen_longer(dataclasses.replace(told, owners=owners), OWNERS, {name: SLOW}) == {name: pace.faded(SLOW)}


def test_one_that_is_well_is_kept_as_it_is() -> None:
    seconds = np.array([1.0] * 10 + [3.0] * 6 + [1.0] * 8)
    well = {"1": Pace(error=0.05, past=((10.0, 1.0), (16.0, 1 / 3)))}
    assert seen_longer(series(seconds), OWNERS, well) == well


@pytest.mark.parametrize("since_s", [9.6, 10.0, 10.3, 10.5])
def test_it_turned_with_the_row_whose_middle_is_not_before_that(since_s: float) -> None:
    told = series(slow_from(10, 18))
    assert told.owners is not None
    rows = GroupRows(seconds=told.busy_s, records=told.records, executor=told.owners, batches=told.batches)
    seen = since(rows, 1, 10)
    assert seen is not None
    found = seen_longer(told, OWNERS, {"1": dataclasses.replace(SLOW, past=((since_s, 1.0),))})
    assert found == {"1": pace.turned(Pace(), seen.slower, seen.error, since_s)}


@pytest.mark.parametrize("seconds", [slow_from(10, 11), np.array([1.0] * 10 + [3.0, 1 / 3])])
def test_one_of_which_rows_say_nothing_stays_as_it_is(seconds: FloatArray) -> None:
    """One row since it turned, or two that do not agree."""
    known = {"1": dataclasses.replace(SLOW, past=((10.0, 1.0),))}
    assert seen_longer(series(seconds), OWNERS, known) == known


@pytest.mark.parametrize(("until_s", "slow"), [(10.4, [False, True]), (10.6, [False, False])])
def test_a_row_counts_at_the_speed_of_its_middle(until_s: float, slow: list[bool]) -> None:
    told = series(np.ones(16))
    found = at_speed_1(told, OWNERS, {"1": Pace(speed=1 / 3, past=((until_s, 1.0),))})
    times = (found / told.busy_s)[[9, 10]][:, OWNER == 1]
    assert times == pytest.approx(np.tile(np.where(slow, 1 / 3, 1.0)[:, None], 5))


@pytest.mark.parametrize("told_by_rows", [True, False])
def test_tasks_of_nobody_are_as_fast_as_most(told_by_rows: bool) -> None:
    told = series(np.ones(8))
    owners: list[str | None] = list(OWNERS)
    owners[0] = None
    rows = np.tile(np.where(np.arange(15) == 0, -1, OWNER), (8, 1))
    told = dataclasses.replace(told, owners=rows if told_by_rows else None)
    assert names_of(told, owners) == ("0", "1", "2")
    found = at_speed_1(told, owners, dict.fromkeys(("0", "1", "2"), SLOW))
    assert found[:, 0] == pytest.approx(told.busy_s[:, 0])
    assert found[:, 1:] == pytest.approx(told.busy_s[:, 1:] / 3)


def test_a_single_key_group_says_nothing_of_one_that_is_well() -> None:
    told = series(slow_from(10, 14)).of_groups(np.flatnonzero((OWNER != 1) | (np.arange(15) == 1)))
    assert turned(told, (), {}, {}) == {}
    assert turned(told, (), {"1": Pace(past=((-1.0, 0.4),))}, {}) == {}
    assert turned(told, (), {"1": Pace(speed=0.9)}, {}).keys() == {"1"}
