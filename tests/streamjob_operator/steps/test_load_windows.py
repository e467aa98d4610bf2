"""Windows of loads hold about as many batches each, however many the rows of the series do."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import series_with

from streamjob_operator.steps.load_windows import load_windows
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
