"""A placement as good as can be had at once on equal executors, where nothing has to stay where it is."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.schedule import finish_s, longest_first
from streamjob_planners.batch.shape import BatchShape

CLOSE = 1.01
"""Times what no placement can be below: nearer than that there is nothing to look for."""


def ideal_placement(shape: BatchShape) -> IntArray:
    """The executor of each key group, (n_groups,): each level by itself, longest task first (Graham, 1969).

    Dealt out to slots, of which neighbours are an executor's, and dealt out to executors, as if each had one slot; the
    one that ends first counts. Executors start their tasks in the order of partitions, so that either alone is a tenth
    longer by chance now and then, and more executors take longer than fewer. All executors must be alike.
    """
    return placed_ideally(shape)[0]


def placed_ideally(shape: BatchShape) -> tuple[IntArray, FloatArray]:
    """That, and when each executor has ended its part of each level, (n_levels, n_nodes), on executors of speed 1."""
    node_of = np.zeros(shape.level.size, dtype=np.int64)
    node_s = np.zeros((shape.n_levels, shape.slots.size))
    for level in range(shape.n_levels):
        here = shape.level == level
        node_of[here], node_s[level] = _of_level(shape.task_s[here], shape.slots)
    return node_of, node_s


def _of_level(task_s: FloatArray, slots: IntArray) -> tuple[IntArray, FloatArray]:
    each = int(slots[0])
    by_slots = longest_first(task_s, slots.size * each) // each
    ends_s = finish_s(task_s, by_slots, slots)
    if each == 1 or task_s.size == 0:
        return by_slots, ends_s
    if float(ends_s.max()) <= CLOSE * max(float(task_s.max()), float(task_s.sum()) / (slots.size * each)):
        return by_slots, ends_s
    by_nodes = longest_first(task_s, slots.size)
    others_s = finish_s(task_s, by_nodes, slots)
    return (by_nodes, others_s) if float(others_s.max()) < float(ends_s.max()) else (by_slots, ends_s)
