"""Loads that come back after minutes or hours: found, believed where that was right, and never seen in mere chance."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np
import pytest

from streamjob_planners.arrays import FloatArray
from streamjob_planners.forecast.past import Forecast, Method, Past

LOOK_S, AHEAD_S = 30.0, 75.0
EPOCH_S = 1.7e9


def lived(rates: FloatArray, every_s: float = LOOK_S, missing: slice = slice(0)) -> tuple[Past, list[Forecast]]:
    """A past of rates, each with a forecast of AHEAD_S, and what was foretold each time; some were not measured."""
    past, foretold, gone = Past(), [], set(range(rates.size)[missing])
    for number, rate in enumerate(rates.tolist()):
        if number in gone:
            continue
        past = past.with_rate(EPOCH_S + every_s * number, rate).with_promise(AHEAD_S)
        foretold.append(past.forecast(AHEAD_S))
    return past, foretold


def rounds(period_s: float, count: float, seed: int = 0, every_s: float = LOOK_S) -> FloatArray:
    """A load of a steep rise and a slow fall in each round, four times as much at its top, with noise of 3 percent."""
    rng = np.random.default_rng(seed)
    place = np.arange(0.0, count * period_s, every_s) / period_s % 1.0
    shape = np.interp(place, [0.0, 0.3, 0.5, 0.9, 1.0], [0.0, 0.0, 1.0, 0.0, 0.0])
    return 1000.0 * np.exp(math.log(4.0) * shape + rng.normal(0.0, 0.03, place.size))


@pytest.mark.parametrize("period_s", [600.0, 1200.0, 1975.0])
def test_a_load_that_comes_back_is_foretold_from_its_third_round_on(period_s: float) -> None:
    rates = rounds(period_s, 3.45)  # in the middle of the fourth rise
    past, foretold = lived(rates)
    truth = rounds(period_s, 3.45 + AHEAD_S / period_s)[-1]
    assert past.period is not None
    assert past.period.every_s == pytest.approx(period_s, rel=0.03)
    assert foretold[-1].method is Method.PERIOD
    assert foretold[-1].rate_rps == pytest.approx(truth, rel=0.15)


def test_an_hour_is_found_by_looks_that_are_minutes_apart() -> None:
    past, _ = lived(rounds(3600.0, 4.0, every_s=150.0), every_s=150.0)
    assert past.period is not None
    assert past.period.every_s == pytest.approx(3600.0, rel=0.03)


def test_a_round_that_is_lower_as_a_whole_is_one_like_the_others() -> None:
    rates = rounds(1200.0, 4.45)
    rates[120:] *= 0.6  # the last round and a half
    assert lived(rates)[1][-1].method is Method.PERIOD


def test_a_period_is_believed_through_hours_in_which_nothing_happens() -> None:
    """Level but for a third of each round: of the last minutes every method is right."""
    rates = rounds(1200.0, 5.0)
    _, foretold = lived(rates)
    level = [one.method for one in foretold[4 * 40 : 4 * 40 + 12]]
    assert set(level) == {Method.PERIOD}


def test_a_source_that_hands_out_no_more_hides_the_top_and_no_period() -> None:
    rates = np.minimum(rounds(1200.0, 4.4), 2000.0)
    past, foretold = lived(rates)
    assert past.period is not None
    assert max(one.rate_rps for one in foretold[100:]) < 1.25 * 2000.0


@pytest.mark.parametrize("missing", [slice(150, 170), slice(100, 160)])
def test_looks_that_are_missing_take_no_period_away(missing: slice) -> None:
    rates = rounds(1200.0, 6.45)
    past, foretold = lived(rates, missing=missing)
    assert past.period is not None
    assert past.period.every_s == pytest.approx(1200.0, rel=0.03)
    assert foretold[-1].method is Method.PERIOD


def test_another_period_has_to_be_right_anew() -> None:
    past, foretold = lived(np.concatenate((rounds(1200.0, 4.0), rounds(840.0, 7.0, seed=1))))
    assert past.period is not None
    assert past.period.every_s == pytest.approx(840.0, rel=0.03)
    assert foretold[-1].method is Method.PERIOD


def noise(rng: np.random.Generator, count: int) -> FloatArray:
    return rng.normal(0.0, 0.1, count)


def walk(rng: np.random.Generator, count: int) -> FloatArray:
    return np.cumsum(rng.normal(0.0, 0.05, count))


def wander(rng: np.random.Generator, count: int) -> FloatArray:
    """Chance that is drawn back to its mean, smooth over twenty minutes."""
    return np.convolve(rng.normal(0.0, 1.5, count + 40), np.ones(40) / 40.0, "valid")[:count]


def steps(rng: np.random.Generator, count: int) -> FloatArray:
    heights, at = rng.normal(0.0, 0.5, 9), np.sort(rng.integers(0, count, 8))
    return heights[np.searchsorted(at, np.arange(count))] + rng.normal(0.0, 0.05, count)


def bursts(rng: np.random.Generator, count: int) -> FloatArray:
    load = rng.normal(0.0, 0.05, count)
    for at in rng.integers(0, count, 6):
        load[at : at + 8] += 0.7
    return load


@pytest.mark.parametrize("kind", [noise, walk, wander, steps, bursts])
@pytest.mark.parametrize("seed", range(2))
def test_chance_is_no_period(kind: Callable[[np.random.Generator, int], FloatArray], seed: int) -> None:
    """What chance may show for a while is not believed."""
    _, foretold = lived(1000.0 * np.exp(kind(np.random.default_rng(seed), 200)))
    assert Method.PERIOD not in {one.method for one in foretold}


def test_no_further_is_foretold_than_a_round_shows() -> None:
    past, _ = lived(rounds(1200.0, 4.45))
    assert past.forecast(AHEAD_S).method is Method.PERIOD
    assert past.forecast(900.0).method is not Method.PERIOD
    assert past.forecast(AHEAD_S, believed=False).method is Method.NAIVE
