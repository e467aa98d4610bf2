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
    node_of = np.zeros(shape.level.size, dtype=np.int64)
    for level in range(shape.n_levels):
        here = shape.level == level
        node_of[here] = _of_level(shape.task_s[here], shape.slots)
    return node_of


def _of_level(task_s: FloatArray, slots: IntArray) -> IntArray:
    each = int(slots[0])
    by_slots = longest_first(task_s, slots.size * each) // each
    if each == 1 or task_s.size == 0:
        return by_slots
    ends_s = _end_s(task_s, by_slots, slots)
    if ends_s <= CLOSE * max(float(task_s.max()), float(task_s.sum()) / (slots.size * each)):
        return by_slots
    by_nodes = longest_first(task_s, slots.size)
    return by_nodes if _end_s(task_s, by_nodes, slots) < ends_s else by_slots


def _end_s(task_s: FloatArray, node_of: IntArray, slots: IntArray) -> float:
    return float(finish_s(task_s, node_of, slots).max())
