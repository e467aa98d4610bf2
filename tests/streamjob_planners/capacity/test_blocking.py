"""Blocking-rate functions against the slow and obvious way of each of their three steps."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners.capacity.blocking import RISE, STEPS, BlockingRates, pooled

POINTS = st.dictionaries(st.integers(1, STEPS), st.floats(0.0, 1.0), min_size=1, max_size=6)


def _monotone(raw):
    """Monotone regression by its min-max formula: max over starts of min over ends of the mean between them."""
    n = len(raw)
    return [max(min(np.mean(raw[i : j + 1]) for j in range(k, n)) for i in range(k + 1)) for k in range(n)]


@settings(max_examples=60, deadline=None, derandomize=True)
@given(points=POINTS)
def test_between_raw_points_it_is_the_monotone_regression_and_lines(points):
    at = sorted(points)
    rates = _monotone([points[weight] for weight in at])
    function = BlockingRates(points=points).function() - RISE * np.arange(STEPS + 1)
    assert function[at] == pytest.approx(rates, abs=1e-6)
    for (left, low), (right, high) in itertools.pairwise(zip([0, *at], [0.0, *rates], strict=True)):
        middle = (left + right) // 2
        share = (middle - left) / (right - left)
        assert function[middle] == pytest.approx(low + share * (high - low), abs=1e-6)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(points=POINTS)
def test_it_starts_at_zero_and_rises_at_every_step(points):
    function = BlockingRates(points=points).function()
    assert function.shape == (STEPS + 1,)
    assert function[0] == 0.0
    assert (np.diff(function) > 0).all()


def test_beyond_the_last_point_the_last_slope_goes_on():
    function = BlockingRates(points={100: 0.1, 200: 0.3, 300: 0.3}).function()
    assert function[500] == pytest.approx(0.3 + 0.2 * 200 / 200, abs=1e-2)
    assert BlockingRates(points={100: 0.0}).function()[STEPS] == pytest.approx(RISE * STEPS)
    assert BlockingRates().function()[STEPS] == pytest.approx(RISE * STEPS)


def test_samples_are_smoothed_and_what_lies_above_decays():
    rates = BlockingRates().observed(100, 0.8).observed(100, 0.4).observed(300, 0.5)
    assert rates.points == {100: pytest.approx(0.6), 300: 0.5}
    assert rates.explored(100).points == {100: pytest.approx(0.6), 300: pytest.approx(0.45)}
    assert rates.observed(0, 0.7) is rates  # (0, 0) is assumed


def test_pooling_takes_means():
    one, other = BlockingRates(points={10: 0.2, 20: 0.4}), BlockingRates(points={20: 0.6})
    assert pooled([one, other]).points == {10: 0.2, 20: 0.5}


@pytest.mark.parametrize(("weight", "rate", "field"), [(-1, 0.1, "weight"), (1001, 0.1, "weight"), (5, -0.1, "rate")])
def test_impossible_samples_are_refused(weight, rate, field):
    with pytest.raises(ValueError, match=field):
        BlockingRates().observed(weight, rate)
