"""How long a batch takes and how long it must take: worked out apart from planners and the model of batches."""

from __future__ import annotations

import math

import numpy as np

from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import IntArray


def levels_s(shape: BatchShape, node_of: IntArray) -> list[list[float]]:
    """End of every node in every level: each task, by number, on the slot of its node that is free first."""
    busy = [[[0.0] * int(slots) for slots in shape.slots] for _ in range(int(shape.level.max()) + 1)]
    for task_s, level, node in zip(shape.task_s.tolist(), shape.level.tolist(), node_of.tolist(), strict=True):
        slots = busy[level][node]
        slots[slots.index(min(slots))] += task_s / float(shape.speed[node])
    return [[max(slots) for slots in nodes] for nodes in busy]


def batch_s(shape: BatchShape, node_of: IntArray) -> float:
    """The whole batch; made-up ones have no stages without key groups."""
    return shape.fixed_s + math.fsum(max(ends) for ends in levels_s(shape, node_of))


def roots_s(shape: BatchShape, node_of: IntArray) -> float:
    """Sum over levels of the root mean square of the nodes' work per slot: one task more on a node always counts."""
    total = 0.0
    for level in range(int(shape.level.max()) + 1):
        here = shape.level == level
        work_s = np.bincount(node_of[here], shape.task_s[here], shape.slots.size) / (shape.slots * shape.speed)
        total += math.sqrt(float((work_s**2).mean()))
    return total


def bound_s(shape: BatchShape) -> float:
    """A batch that no placement on these equal nodes undercuts, whatever may be moved."""
    slots = int(shape.slots.sum())
    tasks = [np.sort(shape.task_s[shape.level == level])[::-1] for level in range(int(shape.level.max()) + 1)]
    return shape.fixed_s + math.fsum(level_bound_s(one.tolist(), slots) for one in tasks)


def level_bound_s(tasks_s: list[float], slots: int) -> float:
    """For tasks in falling order: all work shared out, or what a slot must take of the largest ones.

    Of the k * slots + 1 largest tasks one slot has k + 1 at least: no less than the k + 1 smallest of them.
    """
    least = math.fsum(tasks_s) / slots
    for full in range((len(tasks_s) - 1) // slots + 1):
        last = full * slots
        least = max(least, math.fsum(tasks_s[last - full : last + 1]))
    return least


def useless_moves(shape: BatchShape, before: IntArray, after: IntArray) -> int:
    """Moves without which, one at a time, neither the batch nor the root mean squares would be any longer."""
    whole, roots = batch_s(shape, after), roots_s(shape, after)
    useless = 0
    for group in np.flatnonzero(before != after).tolist():
        without = after.copy()
        without[group] = before[group]
        useless += batch_s(shape, without) <= whole + 1e-9 and roots_s(shape, without) <= roots + 1e-9
    return useless
