"""The placement by which executors are counted: as good as either way of dealing out."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.ideal import CLOSE, ideal_placement
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.schedule import longest_first
from streamjob_planners.batch.shape import BatchShape


def shape_of(task_s: FloatArray, level: IntArray, executors: int, slots: int) -> BatchShape:
    return BatchShape(
        level=level,
        task_s=task_s,
        spread_s=np.zeros(task_s.size),
        slots=np.full(executors, slots, dtype=np.int64),
        speed=np.ones(executors),
    )


def dealt(shape: BatchShape, slots: int) -> IntArray:
    """Each level dealt out to all slots, longest first, `slots` neighbours an executor's."""
    node_of = np.zeros(shape.level.size, dtype=np.int64)
    for level in range(shape.n_levels):
        here = shape.level == level
        node_of[here] = longest_first(shape.task_s[here], shape.slots.size * slots) // slots
    return node_of


@pytest.mark.parametrize("seed", range(6))
def test_each_level_ends_as_soon_as_by_the_better_of_both_ways(seed: int) -> None:
    rng = np.random.default_rng(seed)
    task_s, level = rng.lognormal(0.0, 1.0, 80), rng.integers(0, 2, 80)
    shape = shape_of(task_s, level, int(rng.integers(2, 9)), int(rng.integers(2, 5)))
    found = ends(shape, ideal_placement(shape)).level_s
    by_slots = ends(shape, dealt(shape, int(shape.slots[0]))).level_s
    by_nodes = ends(shape, dealt(shape, 1)).level_s
    assert (found <= by_slots + 1e-9).all()
    assert (found <= CLOSE * by_nodes + 1e-9).all()


def test_with_one_slot_each_it_is_longest_first() -> None:
    task_s = np.array([3.0, 1.0, 2.0, 2.0])
    shape = shape_of(task_s, np.zeros(4, dtype=np.int64), 2, 1)
    assert ideal_placement(shape).tolist() == longest_first(task_s, 2).tolist()
    assert ideal_placement(shape_of(np.zeros(0), np.zeros(0, dtype=np.int64), 2, 2)).size == 0
