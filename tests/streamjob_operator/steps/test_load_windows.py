"""Windows of loads hold about as many batches each, however many the rows of the series do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import series_with

from streamjob_operator.steps.load_windows import load_windows
from streamjob_planners.model import FloatArray
from streamjob_planners.swings.common import LEAST_SWING, swing_ratio


@pytest.mark.parametrize(
    ("batches", "windows"),
    [
        ([1], [1]),
        ([1, 1, 1], [1, 1, 1]),
        ([1, 2, 1, 1], [1, 2, 1, 1]),
        ([4, 4, 4, 4, 4, 1, 1, 1, 1], [4, 4, 4, 4, 4, 3 + 1]),
        ([4, 5, 4, 4, 4, 4, 1, 1, 1, 1, 1], [4, 5, 4, 4, 4, 4, 3 + 2]),
        ([9, 1], [10]),
    ],
)
def test_rows_of_few_batches_are_one_window(batches: list[int], windows: list[int]) -> None:
    series = series_with(np.array(batches, dtype=np.float64)[:, None], row_s=np.ones(len(batches)), ended_s=1000.0)
    series = dataclasses.replace(series, batches=np.array(batches), row_s=np.array(batches, dtype=np.float64) / 4.0)
    found = load_windows(series, 2, np.array([0.5]))
    assert found is not None
    assert found.tolist() == [[100.0]] * len(windows)


def test_chance_is_no_swing_though_the_newest_batches_have_rows_of_their_own() -> None:
    rng = np.random.default_rng(1)
    single = rng.permutation(1.0 / np.arange(1, 401) ** 0.8) * np.maximum(
        0.0, 1.0 + 0.5 * rng.standard_normal((450, 400))
    )
    starts = np.array([*range(0, 434, 14), *range(434, 450)])
    series = series_with(np.add.reduceat(single, starts), row_s=np.ones(starts.size), ended_s=1000.0)
    batches = np.diff(np.append(starts, 450))
    series = dataclasses.replace(series, batches=batches, row_s=batches.astype(np.float64))
    assert swing_ratio(series.busy_s / batches[:, None]) > LEAST_SWING
    assert swing_ratio(load_windows(series, 1, np.ones(400))) == 0.0


ROWS, NEWER = 16, 5


def changing(*, swings: bool, changes: tuple[int, ...] = (ROWS - NEWER,), noise: float = 0.05) -> FloatArray:
    """Seconds of 200 key groups in a batch a row, whose loads are others from some rows on; with `swings` a quarter of
    them has three times its load, each two batches another one."""
    rng = np.random.default_rng(1)
    load, rows = rng.lognormal(0.0, 0.8, 200), []
    for row in range(ROWS):
        load = rng.permutation(load) if row in changes else load
        hot = np.arange(200) % 4 == row // 2 % 4
        rows.append(np.where(hot & swings, 3.0, 1.0) * load * np.exp(rng.normal(0.0, noise, 200)))
    return np.array(rows)


def windows_of(busy_s: FloatArray) -> FloatArray:
    found = load_windows(series_with(busy_s, row_s=np.full(ROWS, 5.0), ended_s=1000.0), 1, np.ones(200))
    assert found is not None
    return found


@pytest.mark.parametrize("changes", [(15,), (14,)])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_a_change_that_two_batches_show_is_no_swing_as_it_is(changes: tuple[int, ...], noise: float) -> None:
    busy_s = changing(swings=False, changes=changes, noise=noise)
    assert swing_ratio(busy_s) < LEAST_SWING
    assert swing_ratio(windows_of(busy_s)) < LEAST_SWING


@pytest.mark.parametrize("changes", [(11,), (7,), (5, 11)])
@pytest.mark.parametrize("noise", [0.05, 0.3])
def test_loads_that_changed_do_not_swing(changes: tuple[int, ...], noise: float) -> None:
    busy_s = changing(swings=False, changes=changes, noise=noise)
    assert swing_ratio(busy_s) > LEAST_SWING
    assert swing_ratio(windows_of(busy_s)) < LEAST_SWING


@pytest.mark.parametrize("changes", [(), (4,), (ROWS - NEWER,), (15,)])
def test_loads_that_swing_do_so_across_a_change(changes: tuple[int, ...]) -> None:
    assert swing_ratio(windows_of(changing(swings=True, changes=changes))) > LEAST_SWING


def test_rows_before_a_change_keep_their_work_and_have_the_shares_since() -> None:
    busy_s = changing(swings=False)
    found, change = windows_of(busy_s), ROWS - NEWER
    shares = found / found.sum(axis=1)[:, None]
    assert found[change:] == pytest.approx(100.0 * busy_s[change:] / 5.0)
    assert shares[:change].mean(axis=0) == pytest.approx(shares[change:].mean(axis=0), rel=0.02)
    assert found[:change].sum() == pytest.approx(100.0 * busy_s[:change].sum() / 5.0)


def test_a_key_group_without_work_before_has_its_share_since() -> None:
    busy_s = changing(swings=False)
    busy_s[: ROWS - NEWER, 0] = 0.0
    found = windows_of(busy_s)
    shares = found[:, 0] / found.sum(axis=1)
    assert shares == pytest.approx(shares[-1], rel=0.2)
