"""How far a steep rise is expected to go."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.forecast.rise import expected

EVERY_TEN_S = 10.0 * np.arange(6)


def at(*rps: float, due_s: float = 1000.0) -> float | None:
    return expected(EVERY_TEN_S[: len(rps)], np.array(rps), due_s)


def test_a_rise_goes_on_for_as_long_as_it_has_lasted() -> None:
    assert at(100.0, 100.0, 150.0, 200.0) == pytest.approx(300.0)
    assert at(100.0, 150.0, 200.0, 250.0) == pytest.approx(400.0)


def test_no_longer_than_until_executors_are_there() -> None:
    assert at(100.0, 100.0, 150.0, 200.0, due_s=35.0) == pytest.approx(225.0)
    assert at(100.0, 100.0, 150.0, 200.0, due_s=20.0) == pytest.approx(200.0)


def test_the_slower_of_the_two_newest_paces_counts() -> None:
    assert at(100.0, 100.0, 190.0, 200.0) == pytest.approx(190.0 + 30.0)
    assert at(100.0, 100.0, 110.0, 200.0) == pytest.approx(110.0 + 30.0)


def test_the_time_between_two_rates_counts() -> None:
    assert expected(np.array([0.0, 10.0, 30.0]), np.array([100.0, 150.0, 250.0]), 1000.0) == pytest.approx(400.0)


@pytest.mark.parametrize(
    "rps", [(100.0,), (100.0, 200.0), (100.0, 100.0, 200.0), (100.0, 200.0, 200.0), (200.0, 215.0, 225.0)]
)
def test_a_step_a_burst_and_a_slow_rise_are_none(rps: tuple[float, ...]) -> None:
    assert at(*rps) is None


def test_a_fall_ends_a_rise() -> None:
    assert at(100.0, 150.0, 200.0, 190.0) is None
    assert at(100.0, 200.0, 150.0, 180.0) is None
    assert at(300.0, 100.0, 150.0, 200.0) == pytest.approx(300.0)


def test_what_rates_vary_by_anyway_is_no_rise() -> None:
    quiet = (100.0, 104.0, 97.0, 101.0, 99.0)
    loud = (100.0, 140.0, 70.0, 110.0, 90.0)
    rise = (100.0, 120.0, 140.0)
    every_ten_s = 10.0 * np.arange(8)
    assert expected(every_ten_s, np.array([*quiet, *rise]), 1000.0) == pytest.approx(200.0)
    assert expected(every_ten_s, np.array([*loud, *rise]), 1000.0) is None


WOBBLY = np.array([100.0, 108.0, 107.0, 118.0, 117.0, 128.0, 132.0, 131.0, 139.0])
"""Five more in each ten seconds, give or take two."""


def test_rates_that_fall_by_chance_end_no_rise() -> None:
    found = expected(10.0 * np.arange(9), WOBBLY, 140.0)
    assert found == pytest.approx(139.0 + 6.0 * 4.2, abs=2.0)
    assert expected(10.0 * np.arange(4), WOBBLY[:4], 140.0) is None


def test_a_line_goes_on_no_longer_than_it_has_lasted_nor_than_until_executors_are_there() -> None:
    soon, late, later = (expected(10.0 * np.arange(9), WOBBLY, due_s) for due_s in (100.0, 160.0, 1000.0))
    assert soon is not None
    assert late is not None
    assert soon < late
    assert late == later


@pytest.mark.parametrize("rates", [9, 20])
def test_rates_that_wander_seldom_look_like_a_rise(rates: int) -> None:
    """A thousand walks of three percent a step: nothing of their past says where they go."""
    chance = np.random.default_rng(7)
    walks = 100.0 * np.exp(np.cumsum(0.03 * chance.standard_normal((1000, rates)), axis=1))
    assert sum(expected(10.0 * np.arange(rates), rps, 1000.0) is not None for rps in walks) <= 60


@pytest.mark.parametrize("spread", [0.05, 0.1, 0.3])
def test_rates_without_a_rise_seldom_look_like_one(spread: float) -> None:
    """A thousand looks at twenty rates that vary around one level."""
    chance = np.random.default_rng(7)
    looks = 100.0 * (1.0 + spread * chance.standard_normal((1000, 20))).clip(0.0)
    assert sum(expected(10.0 * np.arange(20), rps, 1000.0) is not None for rps in looks) <= 5


@pytest.mark.parametrize("spread", [0.05, 0.08, 0.12])
def test_fewer_than_one_in_a_thousand_quiet_batches_begins_a_rise(spread: float) -> None:
    """Three thousand looks, each a batch after the one before: of those on end that see a rise the first counts."""
    chance, newest = np.random.default_rng(11), np.arange(3000)[:, None] + np.arange(24)
    rates = 100.0 * chance.lognormal(0.0, spread, newest.max() + 1)
    seen = np.array([expected(10.0 * np.arange(24), rps, 250.0) is not None for rps in rates[newest]])
    assert int((seen[1:] & ~seen[:-1]).sum()) < 3
