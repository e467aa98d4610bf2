"""An executor that became slow a batch or two ago is planned for, though most of the window was before."""

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.model import FloatArray

ROWS, WINDOW = 12, 10


def snapshot(taken_at_s: float, slow: dict[int, float], seed: int) -> Snapshot:
    """A batch every second; `slow` says by what factor tasks of executor 1 took longer, by row from the end."""
    seen = even(3, 6, 20.0).observe(taken_at_s, float(WINDOW))
    rng = np.random.default_rng(seed)
    busy_s: FloatArray = rng.lognormal(0.0, 0.1, (ROWS, len(seen.owners)))
    mine = [at for at, owner in enumerate(seen.owners) if owner == "1"]
    for back, factor in slow.items():
        busy_s[-back, mine] *= factor
    series = series_with(busy_s, row_s=np.ones(ROWS), ended_s=taken_at_s)
    series = dataclasses.replace(series, records=np.ones(busy_s.shape))
    rates = dataclasses.replace(seen.rates, batches=WINDOW)
    return dataclasses.replace(seen, series=series, busy_s=busy_s[-WINDOW:].sum(axis=0), rates=rates)


def learned(slow: dict[int, float]) -> Memory:
    """After three quiet windows and one in which this happened."""
    memory = Memory()
    for turn in range(3):
        memory = learn_batches(memory, snapshot(1000.0 + 10 * turn, {}, seed=turn))
    assert memory.batches.paces == {}
    return learn_batches(memory, snapshot(1030.0, slow, seed=9))


@pytest.mark.parametrize("slow", [{1: 3.0}, {1: 3.0, 2: 3.0}, {1: 1.6, 2: 1.6}])
def test_two_slow_batches_are_enough_and_one_that_is_much_slower(slow: dict[int, float]) -> None:
    assert learned(slow).batches.paces["1"].speed == pytest.approx(1 / slow[1], rel=0.2)


@pytest.mark.parametrize("slow", [{}, {1: 1.6}, {5: 3.0}, {1: 3.0, 3: 3.0}])
def test_other_slow_batches_are_not(slow: dict[int, float]) -> None:
    assert all(one.speed == 1.0 for one in learned(slow).batches.paces.values())
