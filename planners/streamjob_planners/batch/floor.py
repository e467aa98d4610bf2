"""What a level of a batch takes at least, whatever the budget: bounds of scheduling on parallel machines."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.problem import Problem


def floor_s(problem: Problem, shape: BatchShape, level: int) -> float:
    """Seconds that no placement brings the level below; key groups on marked nodes may stay there, none may come."""
    mine = shape.level == level
    if not mine.any():
        return 0.0
    leaving = problem.model.marked
    could_stay = leaving[problem.model.node_of]
    return max(
        _immobile_s(problem, shape, mine),
        float((shape.task_s[mine] / _best_speed(problem, shape)[mine]).max()),
        _spread_s(problem, shape, mine),
        _scheduled_s(shape, mine, np.ones(leaving.size, dtype=np.bool_)),
        _scheduled_s(shape, mine & ~could_stay, ~leaving),
    )


def _best_speed(problem: Problem, shape: BatchShape) -> FloatArray:
    """The fastest node that each key group may be on, (n_groups,)."""
    home: FloatArray = shape.speed[problem.model.node_of]
    fastest = float(shape.speed[problem.open_nodes].max())
    best: FloatArray = np.where(problem.movable, np.maximum(home, fastest), home)
    return best


def _immobile_s(problem: Problem, shape: BatchShape, mine: BoolArray) -> float:
    """Each node is left with the key groups that cannot move."""
    stuck = mine & ~problem.movable
    held = np.bincount(problem.model.node_of[stuck], shape.task_s[stuck], shape.slots.size)
    return float((held / (shape.slots * shape.speed)).max())


def _spread_s(problem: Problem, shape: BatchShape, mine: BoolArray) -> float:
    """All work over all slots; a marked node takes no more than it has.

    At a time t the nodes do ``sum of open c s t + sum of marked min(own work, c s t)``, which is the least over all
    sets of marked nodes that count with their own work; the worst set holds those with the least work per slot.
    """
    marked, power = problem.model.marked, shape.slots * shape.speed
    held = np.bincount(problem.model.node_of[mine], shape.task_s[mine], power.size)
    order = np.flatnonzero(marked)[np.argsort((held / power)[marked], kind="stable")]
    left = held.sum() - np.append(0.0, held[order].cumsum())
    by = power[~marked].sum() + np.append(power[order][::-1].cumsum()[::-1], 0.0)
    return float((left / by).max())


def _scheduled_s(shape: BatchShape, tasks: BoolArray, nodes: BoolArray) -> float:
    """These tasks on no other than these nodes.

    The j largest take at least their sum over the j fastest slots (Q||Cmax). With all M slots as fast as the fastest,
    some slot gets k + 1 of the k M + 1 largest, at least the smallest k + 1 of these (P||Cmax).
    """
    longest_first = np.sort(shape.task_s[tasks])[::-1]
    speed = np.sort(np.repeat(shape.speed[nodes], np.minimum(shape.slots[nodes], max(longest_first.size, 1))))[::-1]
    slots = speed.size
    if longest_first.size == 0:
        return 0.0
    some = min(longest_first.size, slots)
    shared = float((longest_first[:some].cumsum() / speed[:some].cumsum()).max())
    full = np.arange(1, (longest_first.size - 1) // slots + 1)
    done = np.append(0.0, longest_first.cumsum())
    packed = (done[full * slots + 1] - done[full * slots - full]) / speed[0]
    return max(shared, float(packed.max(initial=0.0)))


def floors_s(problem: Problem, shape: BatchShape) -> FloatArray:
    """The least that is known at once of every level, (n_levels,): its longest task, or all its work shared out."""
    floors = np.zeros(max(shape.n_levels, 1))
    for level in range(shape.n_levels):
        here = shape.level == level
        longest = float(shape.task_s[here].max(initial=0.0)) / float(shape.speed.max())
        floors[level] = max(longest, _shared_out_s(problem, shape, level))
    return floors


def _shared_out_s(problem: Problem, shape: BatchShape, level: int) -> float:
    """The end of a level whose work can be split; a marked node keeps no more than it has today."""
    here, marked = shape.level == level, problem.model.marked
    width = shape.slots * shape.speed
    own = np.bincount(problem.model.node_of[here], shape.task_s[here], width.size)
    left, kept = float(own.sum()), float(width[~marked].sum())
    end = left / kept
    # The marked nodes that would end before the others are full keep all they have; the rest works as long as others.
    for node in np.flatnonzero(marked)[np.argsort(-(own / width)[marked], kind="stable")]:
        if own[node] / width[node] > end:
            kept += width[node]
        else:
            left -= own[node]
        end = left / kept
    return end
