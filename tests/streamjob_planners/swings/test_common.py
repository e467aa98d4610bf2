"""What loads have in common is told from chance."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.swings.common import FEWEST_WINDOWS, LEAST_SWING, swing_ratio


@pytest.mark.parametrize("seed", range(30))
@pytest.mark.parametrize("noise", [0.1, 0.5, 1.0])
def test_chance_alone_is_no_swing(seed: int, noise: float) -> None:
    rng = np.random.default_rng(seed)
    series = rng.uniform(0.7, 1.3, 200) * rng.lognormal(0.0, noise, (FEWEST_WINDOWS + seed, 200))
    assert swing_ratio(series) < LEAST_SWING


def test_more_work_for_all_is_no_swing() -> None:
    rng = np.random.default_rng(1)
    tide = 1.0 + 0.9 * np.sin(np.arange(40))[:, None]
    assert swing_ratio(rng.uniform(0.5, 1.5, 100) * tide * rng.lognormal(0.0, 0.05, (40, 100))) < LEAST_SWING


def test_a_swing_is_seen_through_noise() -> None:
    rng = np.random.default_rng(1)
    hot = np.arange(40)[:, None] % 2 == np.arange(100) % 2
    assert swing_ratio(np.where(hot, 3.0, 1.0) * rng.lognormal(0.0, 0.3, hot.shape)) > 0.4


@pytest.mark.parametrize("windows", [12, 18, 40])
@pytest.mark.parametrize("odd", [1, 2])
def test_first_batches_that_are_nearly_empty_are_no_swing(odd: int, windows: int) -> None:
    """Without rows all key groups take as long, afterwards as their shares say: on real Spark one of 12 batches did."""
    rng = np.random.default_rng(windows)
    work = np.concatenate([rng.permutation(1.0 / np.arange(1, 17) ** 0.8) for _ in range(2)])
    series = work * rng.lognormal(0.0, 0.05, (windows, 32))
    series[:odd] = 0.1 * rng.lognormal(0.0, 0.05, (odd, 32))
    assert swing_ratio(series) < LEAST_SWING


def test_too_short_a_series_or_none_tells_nothing() -> None:
    assert swing_ratio(None) == 0.0
    assert swing_ratio(np.ones((FEWEST_WINDOWS - 1, 5))) == 0.0
    assert swing_ratio(np.ones((40, 5))) == 0.0
