"""Speeds by the batches of a series: refined by each batch, trusted again after a recovery, and never too fast."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import series_with

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.turned import at_speed_1, seen_longer, turned, turned_and_in_doubt
from streamjob_planners.arrays import FloatArray
from streamjob_planners.capacity.pace import Pace

OWNER = np.arange(15) % 3
OWNERS = tuple(str(one) for one in OWNER)
SLOTS = {"0": 2, "1": 2, "2": 2}
RELIEVED = np.where(np.arange(15) > 8, np.where(OWNER == 1, 2, OWNER), OWNER)
"""Executor 1 has given two of its five key groups to executor 2."""


def series(speed_of_1: FloatArray, relieved_from: int | None = None) -> BatchSeries:
    """A batch a second of equal key groups, the first one begins at 0."""
    n = speed_of_1.size
    owners = np.tile(OWNER, (n, 1))
    if relieved_from is not None:
        owners[relieved_from:] = RELIEVED
    took_s = np.random.default_rng(8).lognormal(0.0, 0.08, owners.shape)
    busy_s = np.where(owners == 1, took_s / speed_of_1[:, None], took_s)
    found = series_with(busy_s, row_s=np.ones(n), ended_s=float(n))
    return dataclasses.replace(found, records=np.ones(busy_s.shape), owners=owners)


def speeds(*parts: tuple[int, float]) -> FloatArray:
    """So many rows with this speed, one after another."""
    return np.concatenate([np.full(rows, speed) for rows, speed in parts])


def test_it_is_known_after_two_rows_and_by_more_rows_better() -> None:
    assert turned(series(speeds((10, 1.0), (1, 1 / 3))), OWNERS, {}, {}) == {}
    known = turned(series(speeds((10, 1.0), (2, 1 / 3))), OWNERS, {}, {})
    assert known["1"].speed == pytest.approx(1 / 3, rel=0.15)
    assert known["1"].since_s == pytest.approx(10.0)
    later = seen_longer(series(speeds((10, 1.0), (8, 1 / 3))), OWNERS, known)
    assert later["1"].speed == pytest.approx(1 / 3, rel=0.08)
    assert later["1"].error < known["1"].error
    assert turned(series(speeds((10, 1.0), (8, 1 / 3))), OWNERS, later, SLOTS) == {}


def test_one_row_is_enough_where_more_key_groups_show_it_than_run_at_a_time() -> None:
    told = series(speeds((10, 1.0), (1, 1 / 3)))
    assert turned(told, OWNERS, {}, SLOTS)["1"].speed == pytest.approx(1 / 3, rel=0.2)
    assert turned(told, OWNERS, {}, {"1": 4}).keys() == {"1"}
    assert turned(told, OWNERS, {}, {"1": 5}) == {}
    assert turned(told, OWNERS, {"1": Pace(past=((1.0, 0.4),))}, SLOTS) == {}  # it has been slow before


def test_three_key_groups_at_least_must_show_it_in_one_row() -> None:
    told = series(speeds((10, 1.0), (1, 1 / 3)))
    three, two = np.flatnonzero(OWNER != 1), np.flatnonzero(OWNER == 1)
    assert turned(told.of_groups(np.append(three, two[:3])), (), {}, {"1": 1}).keys() == {"1"}
    assert turned(told.of_groups(np.append(three, two[:2])), (), {}, {"1": 1}) == {}


def test_one_slow_row_is_in_doubt() -> None:
    assert turned_and_in_doubt(series(speeds((10, 1.0), (1, 1 / 3))), OWNERS, {}, {}) == ({}, True)
    assert turned_and_in_doubt(series(speeds((11, 1.0))), OWNERS, {}, {}) == ({}, False)


def test_one_that_recovers_is_as_the_others_and_not_faster_whatever_is_asked_next() -> None:
    known: dict[str, Pace] = {}
    for end in range(8, 28):
        told = series(speeds((10, 1.0), (8, 1 / 3), (10, 1.0))[:end], relieved_from=13)
        known = seen_longer(told, OWNERS, {**known, **turned(told, OWNERS, known, {})})
        speed = known["1"].speed if "1" in known else 1.0
        slow = 12 <= end < 20
        assert speed == (pytest.approx(1 / 3, rel=0.2) if slow else 1.0), end


def test_rows_count_at_the_speed_of_their_time_and_their_executor() -> None:
    told = series(speeds((6, 1.0), (6, 1 / 3), (4, 1.0)), relieved_from=9)
    well = at_speed_1(told, OWNERS, {"1": Pace(past=((6.0, 1.0), (12.0, 1 / 3)))})
    assert well[6:12] == pytest.approx(series(np.ones(16), relieved_from=9).busy_s[6:12])
    assert well[12:] == pytest.approx(told.busy_s[12:])


def test_one_that_runs_nothing_is_believed_to_recover() -> None:
    told = dataclasses.replace(series(np.ones(8)), owners=np.tile(np.where(OWNER == 1, 2, OWNER), (8, 1)))
    paces = {"1": Pace(speed=1 / 3, error=0.1)}
    assert 1 / 3 < seen_longer(told, OWNERS, paces)["1"].speed < 0.5


def test_one_that_is_well_is_forgotten_once_no_row_tells_of_before() -> None:
    well = {"1": Pace(past=((-1.0, 0.4),))}
    assert seen_longer(series(np.ones(8)), OWNERS, well) == {}
