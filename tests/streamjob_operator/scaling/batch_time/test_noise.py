"""How much whole batches vary: by chance, and not because a backlog grew or was worked off."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from situations import busy, situation_of
from worlds import even, series_with

from streamjob_operator.scaling.batch_time.measured import measured, with_noise

TRIGGER_S = 10.0
CALM = [8.0, 8.2] * 10
SURGE = [16.4, 26.7, 42.9, 69.3, 55.3, 43.3, 34.5, 27.9, 21.6, 16.9, 13.7, 11.2, 9.0, 7.3, 6.1, 6.7, 8.3]


def noise_ratio(batch_s: list[float], batches: list[int] | None = None) -> float | None:
    """Of mean batches of rows, as a part of the mean; one batch a row where nothing else is told."""
    snapshot = busy(4, 40.0, trigger_interval_s=TRIGGER_S)
    lengths, count = np.array(batch_s), np.array(batches or [1] * len(batch_s))
    row_s = np.maximum(lengths, TRIGGER_S) * count
    series = series_with(np.ones((lengths.size, 8)), row_s=row_s, ended_s=snapshot.taken_at_s)
    snapshot = dataclasses.replace(snapshot, series=dataclasses.replace(series, batches=count, batch_s=lengths * count))
    noise = with_noise(None, situation_of(snapshot))
    return None if noise is None else math.sqrt(noise.mean)


def test_batches_that_vary_by_chance_say_by_how_much() -> None:
    assert noise_ratio(CALM) == pytest.approx(0.2 / math.sqrt(2) / 8.1)


def test_rows_of_several_batches_say_by_how_much_single_ones_vary() -> None:
    """Means of four vary half as much; the newest batches have rows of their own."""
    rng = np.random.default_rng(1)
    single = 8.0 * (1.0 + 0.05 * rng.standard_normal(400))
    mixed = [*single[:360].reshape(-1, 4).mean(axis=1), *single[360:]]
    found = noise_ratio(mixed, batches=[4] * 90 + [1] * 40)
    assert found == pytest.approx(0.05, rel=0.2)


def test_what_a_surge_did_to_batches_is_no_noise_of_those_after_it() -> None:
    """One surge, long over, had the rule ask for a quarter more executors."""
    found = noise_ratio([*CALM, *SURGE, *CALM])
    assert found is not None
    assert found < 0.06


def test_batches_that_all_overrun_their_trigger_say_nothing() -> None:
    assert noise_ratio([12.0, 13.0] * 10) is None


def test_batches_that_differ_in_size_are_no_plan_that_is_off() -> None:
    """Batches of 1 to 8 times the rows, key groups evenly placed: what tasks vary by is the sizes, and nothing that
    better placed ones would be without."""
    world = even(2, 8, 7.0)
    world.now_s = 1000.0
    rows = np.repeat([1.0, 2.0, 4.0, 8.0], 2)
    series = series_with(rows[:, None] * np.ones((8, 16)), row_s=np.full(8, 10.0), ended_s=1000.0, input_rps=100 * rows)
    seen = dataclasses.replace(world.observe(1000.0, 10.0), series=series)
    told = tuple(dataclasses.replace(one, spread_s=0.1) for one in seen.stages)
    found = measured(situation_of(dataclasses.replace(seen, stages=told)), None)
    assert found is not None
    assert found.bias == pytest.approx(1.0)


@pytest.mark.parametrize(("marked", "bias"), [(False, 1.3), (True, 1.0)])
def test_a_plan_that_empties_an_executor_is_not_off(marked: bool, bias: float) -> None:
    """It leaves those that stay uneven: seven executors were asked for in mid-drain, at the rate at which one had been
    sent away, and left again."""
    world = even(3, 8, 7.0)
    world.now_s = 1000.0
    seen = situation_of(world.observe(1000.0, 10.0), wanted=2 if marked else 3)
    model = dataclasses.replace(seen.estimate.model, marked=np.array([False, False, marked]))
    uneven = dataclasses.replace(seen.plan, node_of=np.zeros_like(seen.plan.node_of))
    seen = dataclasses.replace(seen, plan=uneven, estimate=dataclasses.replace(seen.estimate, model=model))
    found = measured(seen, None)
    assert found is not None
    assert found.bias == pytest.approx(bias)
