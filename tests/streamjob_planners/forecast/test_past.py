"""Forecasts of made-up rates: used where they have been right, left alone where not."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streamjob_planners.forecast.past import Method, Past
from streamjob_planners.forecast.season import day
from streamjob_planners.forecast.trend import Trend

HOUR, DAY = 3600.0, 86400.0
AHEAD_S, STEP_S = 1200.0, 300.0


def lived(rates: np.ndarray[tuple[int], np.dtype[np.float64]]) -> Past:
    """A past of rates every five minutes, each with a forecast of twenty minutes."""
    past = Past()
    for number, rate in enumerate(rates.tolist()):
        past = past.with_rate(STEP_S * (number + 1), rate).with_promise(AHEAD_S)
    return past


def daily(days: float, seed: int = 0, noise: float = 0.03) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """A steep day: quiet nights, a rise within an hour and a half at eight, a fall in the evening."""
    rng = np.random.default_rng(seed)
    hour = STEP_S * np.arange(1, int(days * DAY / STEP_S) + 1) % DAY / HOUR
    shape = 1.0 / (1.0 + np.exp(-4.0 * (hour - 8.0))) - 1.0 / (1.0 + np.exp(-4.0 * (hour - 20.0)))
    return 1000.0 * (1.0 + 4.0 * shape) * np.exp(rng.normal(0.0, noise, hour.size))


@pytest.mark.parametrize("seed", range(3))
def test_a_day_like_those_before_is_foretold_better_than_by_the_rate_now(seed: int) -> None:
    rates = daily(4.0 + 8.0 / 24, seed)  # eight in the morning of the fifth day, in the middle of the rise
    past = lived(rates)
    found = past.forecast(AHEAD_S)
    truth = daily(4.0 + 8.0 / 24 + AHEAD_S / DAY, seed, noise=0.0)[-1]
    assert found.method is Method.DAY
    assert found.rate_rps == pytest.approx(truth, rel=0.12)
    assert rates[-1] < 0.85 * truth  # what the naive one says
    assert found.error_ratio is not None
    assert found.naive_ratio is not None
    assert found.error_ratio < 0.8 * found.naive_ratio


def test_noise_alone_is_not_foretold() -> None:
    rng = np.random.default_rng(1)
    past = lived(1000.0 * np.exp(rng.normal(0.0, 0.1, 600)))
    assert past.forecast(AHEAD_S).method in (Method.NAIVE, Method.TREND)
    assert past.forecast(AHEAD_S).rate_rps == pytest.approx(1000.0, rel=0.35)


def test_a_rise_that_lasts_is_foretold_and_its_end_is_not_overshot_by_far() -> None:
    rising = 1000.0 * np.exp(0.0004 * STEP_S * np.arange(24))  # twelve percent in five minutes, for two hours
    past = lived(rising)
    found = past.forecast(AHEAD_S)
    assert found.method is Method.TREND
    assert found.rate_rps == pytest.approx(rising[-1] * math.exp(0.0004 * AHEAD_S), rel=0.25)
    flat = past
    for number in range(1, 7):
        flat = flat.with_rate(STEP_S * (24 + number), float(rising[-1])).with_promise(AHEAD_S)
    assert flat.forecast(AHEAD_S).rate_rps == pytest.approx(rising[-1], rel=0.2)


def test_a_step_says_nothing_of_how_fast_rates_rise() -> None:
    """A level rate that halves at once stays level; one that rises goes on rising from half as much."""
    for slope in (0.0, 0.0004):
        rates = 1000.0 * np.exp(slope * STEP_S * np.arange(30))
        before, after = Trend(), Trend()
        for number, rate in enumerate(rates.tolist()):
            before = before.with_rate(STEP_S * number, math.log(rate))
        for number, rate in enumerate((rates * np.where(np.arange(30) < 25, 1.0, 0.5)).tolist()):
            after = after.with_rate(STEP_S * number, math.log(rate))
        assert after.rise(AHEAD_S) == pytest.approx(before.rise(AHEAD_S), abs=0.05)
        assert after.level == pytest.approx(math.log(rates[-1] / 2.0), abs=0.1)


def test_nothing_is_believed_that_was_never_right() -> None:
    rng = np.random.default_rng(5)
    shuffled = rng.permutation(daily(5.0))  # the same rates in no order: days tell nothing
    assert lived(shuffled).forecast(AHEAD_S).method in (Method.NAIVE, Method.TREND)
    assert lived(daily(4.3)).forecast(AHEAD_S, believed=False).method is Method.NAIVE


def test_the_interval_holds_what_comes() -> None:
    """Of forecasts of the fifth day, about one in twenty comes out above 1.64 standard deviations."""
    rates, past, above = daily(6.0, 2), Past(), []
    foretold: dict[int, float] = {}
    for number, rate in enumerate(rates.tolist()):
        if number in foretold:
            above.append(rate > foretold[number])
        past = past.with_rate(STEP_S * (number + 1), rate).with_promise(AHEAD_S)
        if number > 4 * 288:
            foretold[number + 4] = past.forecast(AHEAD_S).quantile(1.645)
    assert 0.0 <= float(np.mean(above)) < 0.12


def test_one_step_does_not_make_all_that_comes_uncertain() -> None:
    """Level for hours, then 2.3 times as much at once and level again: steps were no part of what is usual."""
    rng = np.random.default_rng(3)
    rates = 1000.0 * np.exp(rng.normal(0.0, 0.03, 60))
    rates[40:] *= 2.3
    before, after = lived(rates[:40]).forecast(AHEAD_S), lived(rates[:46]).forecast(AHEAD_S)
    assert after.spread < 1.6 * before.spread
    assert after.rate_rps == pytest.approx(2300.0, rel=0.15)


def test_steps_that_come_again_and_again_are_what_is_usual() -> None:
    """Half an hour at 1,000 rows/s, half an hour at 2,000: what a forecast is off by is either nothing or a factor."""
    rates = np.where(np.arange(120) % 12 < 6, 1000.0, 2000.0)
    assert lived(rates).forecast(AHEAD_S).spread > 0.15


def test_a_past_stays_small_and_old_rates_are_left_out() -> None:
    past = lived(daily(9.0))
    assert len(past.open) <= 8
    assert past.with_rate((past.at_s or 0.0) - 1.0, 5.0) is past
    assert past.with_rate((past.at_s or 0.0) + 3 * DAY, 0.0).forecast(AHEAD_S).spread <= 0.5


def test_a_part_of_the_day_that_no_day_has_shown_says_nothing() -> None:
    season = day()
    for minute in range(0, 300, 5):
        season = season.with_rate(60.0 * minute, 1.0)
    assert season.rise(HOUR, 2 * HOUR) == pytest.approx(0.0)
    assert season.rise(HOUR, 9 * HOUR) is None


def test_before_the_first_rate_nothing_is_foretold() -> None:
    with pytest.raises(ValueError, match="no rate"):
        Past().forecast(AHEAD_S)
    assert Past().with_promise(AHEAD_S) == Past()
