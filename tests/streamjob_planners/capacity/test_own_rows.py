"""Medians of each executor's key groups, beside the same taken one by one."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.own_rows import OwnRows


def one_by_one(values: FloatArray, executor: IntArray, n_executors: int) -> FloatArray:
    found = np.full((len(values), n_executors), np.nan)
    for row, one in np.ndindex(found.shape):
        mine = values[row, executor[row] == one]
        found[row, one] = np.median(mine) if mine.size else np.nan
    return found


@pytest.mark.parametrize("seed", range(20))
@pytest.mark.parametrize("moved", [0, 1, 9], ids=["nothing moves", "one moves", "many move"])
def test_each_executor_has_its_own_median_to_the_last_digit(moved: int, seed: int) -> None:
    rng = np.random.default_rng([seed, moved])
    values = rng.normal(size=(7, 23))
    executor = np.tile(rng.integers(-1, 6, size=23), (7, 1))
    for group in rng.choice(23, size=moved, replace=False):
        executor[rng.integers(1, 7) :, group] = rng.integers(-1, 6)
    np.testing.assert_array_equal(OwnRows(executor, 8).medians(values), one_by_one(values, executor, 8))


def test_equal_values_and_rows_without_a_key_group() -> None:
    executor = np.array([[0, 0, 1], [-1, -1, 1], [0, 1, 1]])
    values = np.array([[2.0, 2.0, 5.0], [1.0, 1.0, 4.0], [3.0, 1.0, 2.0]])
    np.testing.assert_array_equal(OwnRows(executor, 2).medians(values), [[2.0, 5.0], [np.nan, 4.0], [3.0, 1.5]])


def test_without_a_key_group_nobody_has_a_median() -> None:
    assert np.isnan(OwnRows(np.zeros((3, 0), dtype=np.int64), 2).medians(np.zeros((3, 0)))).all()
