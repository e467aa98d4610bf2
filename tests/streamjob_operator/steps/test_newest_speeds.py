"""A long window hides an executor that has just become slow, or well again: the newest two batches show it."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import even, series_with

from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.values import Memory, Snapshot
from streamjob_planners.capacity.pace import Pace

EXECUTORS, EACH, ROWS, ROW_S = 4, 5, 60, 5.0
"""Batches of a statistics period of five minutes."""
OWNER = np.arange(EXECUTORS * EACH) // EACH


def window(ends_at_s: float, speed_of_2: np.ndarray) -> Snapshot:
    """A period in which executor 2 had these speeds, (ROWS,); tasks of equal key groups vary by a tenth."""
    rng = np.random.default_rng(int(ends_at_s))
    speed = np.where(OWNER[None, :] == 2, speed_of_2[:, None], 1.0)
    busy_s = rng.lognormal(0.0, 0.1, speed.shape) / speed
    seen = even(EXECUTORS, EACH, 20.0).observe(ends_at_s, ROWS * ROW_S)
    return dataclasses.replace(
        seen,
        busy_s=busy_s.sum(axis=0),
        rates=dataclasses.replace(seen.rates, batches=ROWS),
        stages=(),
        series=dataclasses.replace(
            series_with(busy_s, row_s=np.full(ROWS, ROW_S), ended_s=ends_at_s), records=np.ones(busy_s.shape)
        ),
    )


def speeds(memory: Memory) -> dict[str, float]:
    return {name: one.speed for name, one in memory.batches.paces.items() if one.speed != 1.0}


def at_rest() -> Memory:
    """Two periods of a quiet fleet."""
    memory = Memory()
    for at_s in (1000.0, 1300.0):
        memory = learn_batches(memory, window(at_s, np.ones(ROWS)))
    return memory


def test_two_slow_batches_of_sixty_are_planned_for() -> None:
    speed = np.ones(ROWS)
    speed[-2:] = 1 / 3
    assert speeds(learn_batches(at_rest(), window(1310.0, speed))) == {"2": pytest.approx(1 / 3, rel=0.2)}


def test_two_batches_at_full_speed_of_sixty_end_it() -> None:
    memory = at_rest()
    slow = dataclasses.replace(memory.batches, paces={"2": Pace(speed=1 / 3, error=0.02)})
    memory = dataclasses.replace(memory, batches=slow)
    memory = learn_batches(memory, window(1600.0, np.full(ROWS, 1 / 3)))
    assert speeds(memory) == {"2": pytest.approx(1 / 3, rel=0.1)}
    speed = np.full(ROWS, 1 / 3)
    speed[-2:] = 1.0
    assert speeds(learn_batches(memory, window(1610.0, speed))) == {}


def test_one_batch_at_full_speed_is_no_recovery() -> None:
    slow = dataclasses.replace(at_rest().batches, paces={"2": Pace(speed=1 / 3, error=0.02)})
    memory = learn_batches(Memory(batches=slow), window(1600.0, np.full(ROWS, 1 / 3)))
    speed = np.full(ROWS, 1 / 3)
    speed[-1:] = 1.0
    assert speeds(learn_batches(memory, window(1610.0, speed))) == {"2": pytest.approx(1 / 3, rel=0.15)}
