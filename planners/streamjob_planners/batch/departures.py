"""What bringing every node of a level under a time costs at least: the tasks that must leave.

Left out is where they go, so that it is a relaxation: what a level needs at least for a time never rises with the time.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.problem import Problem

PACKED = 3
"""Tasks that one slot gets beyond the first, up to which packing is looked at."""
TIMES = 192
"""Times between the floor and today's of a level at which prices are worked out."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Leavers:
    """The movable key groups of a level, by node, on each node the longest task first; (n,) each.

    Attributes:
        group: index of the key group.
        node: where it is.
        left_s: what its node takes at least for the level while this key group and all shorter ones are still there.
        stays: work of the key groups of each node that cannot move, (n_nodes,), seconds on a node of speed 1.
    """

    group: IntArray
    node: IntArray
    left_s: FloatArray
    stays: FloatArray


def leavers(problem: Problem, shape: BatchShape, level: int) -> Leavers:
    """The level's key groups that may move."""
    mine = shape.level == level
    node_of, n_nodes = problem.model.node_of, shape.slots.size
    stuck = mine & ~problem.movable
    stays = np.bincount(node_of[stuck], shape.task_s[stuck], n_nodes).astype(np.float64)
    free = np.flatnonzero(mine & problem.movable)
    group = free[np.lexsort((-shape.task_s[free], node_of[free]))]
    node, task_s = node_of[group], shape.task_s[group]
    work_s = (_still_there(task_s, node, n_nodes) + stays[node]) / shape.slots[node]
    least_s = np.maximum(work_s, task_s)
    for extra in range(1, PACKED + 1):
        np.maximum(least_s, _packed(task_s, node, shape.slots[node], extra), out=least_s)
    return Leavers(group=group, node=node, left_s=least_s / shape.speed[node], stays=stays)


def _still_there(task_s: FloatArray, node: IntArray, n_nodes: int) -> FloatArray:
    """Work of each key group and of all shorter ones of its node, seconds."""
    before = np.append(0.0, task_s.cumsum())
    ends = np.bincount(node, minlength=n_nodes).cumsum()
    left: FloatArray = before[ends[node]] - before[:-1]
    return left


def _packed(task_s: FloatArray, node: IntArray, slots: IntArray, extra: int) -> FloatArray:
    """Of `extra` c + 1 tasks some slot of c gets extra + 1, no less than the shortest; 0 where there are fewer."""
    first = np.arange(task_s.size)
    last = first + extra * slots
    there = last < task_s.size
    there[there] = node[last[there]] == node[there]
    done = np.append(0.0, task_s.cumsum())
    least = np.zeros(task_s.size)
    least[there] = done[last[there] + 1] - done[last[there] - extra]
    return least


def least_times_by_moves(found: Leavers, floor_s: float, moves: IntArray) -> FloatArray:
    """The least time of a level that so many moves allow, for each number in `moves`; seconds, never rising.

    A time t needs as many departures as there are key groups whose `left_s` is above t.
    """
    worst_first = np.sort(found.left_s[found.left_s > floor_s])[::-1]
    within = np.append(worst_first, floor_s)
    times: FloatArray = within[np.minimum(moves, worst_first.size)]
    return times


def least_times_by_price(
    found: Leavers, shape: BatchShape, price: FloatArray, floor_s: float, spends: FloatArray
) -> FloatArray:
    """The same for each amount in `spends`, with `price`, (n_groups,), of every key group; seconds."""
    times = times_between(found, floor_s)
    return _times_for(times, least_prices(found, shape, price, times), spends)


def times_between(found: Leavers, floor_s: float) -> FloatArray:
    """Times of a level from its floor to today's, from which on nothing has to leave; (TIMES,), seconds."""
    return np.linspace(floor_s, max(floor_s, float(found.left_s.max(initial=floor_s))), TIMES)


def least_prices(found: Leavers, shape: BatchShape, price: FloatArray, times: FloatArray) -> FloatArray:
    """What a level costs at least for each of these times, which rise; never rising with them.

    A node must lose what it has above c s t, cheapest work first and cut where need be, and every task above s t.
    """
    needed = np.zeros(times.size)
    for node in np.unique(found.node[found.left_s > times[0]]):
        own = found.group[found.node == node]
        power = float(shape.slots[node] * shape.speed[node])
        excess = shape.task_s[own].sum() + found.stays[node] - power * times
        forced = _price_of_long(shape.task_s[own], price[own], float(shape.speed[node]) * times)
        needed += np.maximum(_price_of_work(shape.task_s[own], price[own], excess), forced)
    return needed


def _price_of_work(task_s: FloatArray, price: FloatArray, excess: FloatArray) -> FloatArray:
    order = np.argsort(price / np.maximum(task_s, 1e-300), kind="stable")
    work, paid = np.append(0.0, task_s[order].cumsum()), np.append(0.0, price[order].cumsum())
    least: FloatArray = np.interp(excess, work, paid)
    return least


def _price_of_long(longest_first: FloatArray, price: FloatArray, limit: FloatArray) -> FloatArray:
    """Price of all tasks above each limit."""
    above = longest_first.size - np.searchsorted(longest_first[::-1], limit, side="right")
    paid: FloatArray = np.append(0.0, price.cumsum())[above]
    return paid


def _times_for(times: FloatArray, needed: FloatArray, spends: FloatArray) -> FloatArray:
    """The largest time that is too dear for each amount: the true one is above it; the floor where none is."""
    too_dear: BoolArray = needed[None, :] > spends[:, None]
    count = too_dear.sum(axis=1)  # `needed` never rises
    least: FloatArray = times[np.maximum(count - 1, 0)]
    return least
