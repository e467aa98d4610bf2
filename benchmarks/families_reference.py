"""A planner to measure ours by, apart from it: greedy, then annealing on what is off a falling target.

Plain on purpose: any group may go anywhere unmarked, at home or not, as long as the budget holds. The cost of a
placement is the sum of what nodes are off a band, and the band gets narrower whenever it is met.
"""

from __future__ import annotations

import time

import numba
import numpy as np

from streamjob_planners.model import Budget, IntArray, LoadModel

STEPS = 200_000
HEAT = 0.1
"""First threshold of a pass, as a part of the mean group."""
SAMPLES = 8
"""Groups looked at for a step."""
AIM = 0.7
"""Part of the distance that the next band has, once one is met."""
RELAX = 0.5
"""Part of the way back to the best distance, after a pass that did not meet its band."""


def reference(model: LoadModel, budget: Budget, deadline_s: float, seed: int) -> IntArray:
    """A placement within the budget, (n_groups,)."""
    cost = np.ones(model.n_groups) if budget.max_migrations is not None else np.array(model.migration_cost_s)
    allowed = float(budget.max_migrations if budget.max_migrations is not None else budget.max_cost_s or 0.0)
    mean = float(model.load.sum() / model.capacity[~model.marked].sum())
    fixed = (np.array(model.load), cost, np.array(model.capacity), np.array(model.marked), np.array(model.node_of))
    best, until = np.array(model.node_of), time.perf_counter() + deadline_s
    reached = stretch(model, best)
    at, target, number = best.copy(), reached * AIM, seed
    while time.perf_counter() < until:
        number += 1
        _pass(fixed, at, (mean, target, allowed), STEPS, number)
        found = stretch(model, at)
        if found < reached:
            best, reached = at.copy(), found
        met = found <= target * (1 + 1e-9)
        target = found * AIM if met else target + RELAX * (reached - target)
        if not met:
            at = best.copy()
        if target > 0.995 * reached:
            target = reached * AIM
    return best


def stretch(model: LoadModel, node_of: IntArray) -> float:
    """The load distance, or a marked node's utilisation above the mean if that is more; percent points."""
    marked, mean = model.marked, model.load.sum() / model.capacity[~model.marked].sum()
    apart = np.bincount(node_of, model.load, model.n_nodes) / model.capacity - mean
    return float(np.where(marked, apart, np.abs(apart)).max())


@numba.njit(cache=True)
def _pass(fixed, at, knobs, steps, seed):  # type: ignore[no-untyped-def]
    """Random steps of a move, and of a group that goes home to pay for it; kept below a falling threshold."""
    load, cost, _, _, home = fixed
    np.random.seed(seed)
    sums, spent = _sums(fixed, at)
    step = np.zeros((2, 2), dtype=np.int64)  # groups and where they go; the second one is -1 for none
    heat = HEAT * load.mean()
    for number in range(steps):
        _propose(fixed, at, sums, knobs, step)
        change, cost_change = 0.0, 0.0
        for piece in range(2):
            group, node = step[piece]
            if group >= 0 and node >= 0:
                cost_change += cost[group] * (int(node != home[group]) - int(at[group] != home[group]))
                change += _relocate(fixed, at, sums, knobs, group, at[group], node)
        if change <= heat * (1.0 - number / steps) ** 3 and spent + cost_change <= knobs[2] + 1e-9:
            spent += cost_change
            for piece in range(2):
                if step[piece, 0] >= 0 and step[piece, 1] >= 0:
                    at[step[piece, 0]] = step[piece, 1]
            continue
        for piece in range(1, -1, -1):
            group, node = step[piece]
            if group >= 0 and node >= 0:
                _relocate(fixed, at, sums, knobs, group, node, at[group])


@numba.njit(cache=True)
def _sums(fixed, at):  # type: ignore[no-untyped-def]
    """Load of each node, and the costs spent."""
    load, cost, capacity, _, home = fixed
    sums, spent = np.zeros(capacity.size), 0.0
    for group in range(at.size):
        sums[at[group]] += load[group]
        if at[group] != home[group]:
            spent += cost[group]
    return sums, spent


@numba.njit(cache=True)
def _off(fixed, sums, knobs, node):  # type: ignore[no-untyped-def]
    """Points by which a node misses its band."""
    apart = sums[node] / fixed[2][node] - knobs[0]
    return max(0.0, (apart if fixed[3][node] else abs(apart)) - knobs[1])


@numba.njit(cache=True)
def _relocate(fixed, at, sums, knobs, group, source, node):  # type: ignore[no-untyped-def]
    """Move a group's load; by how much its two nodes are farther off for it."""
    before = _off(fixed, sums, knobs, source) + _off(fixed, sums, knobs, node)
    sums[source] -= fixed[0][group]
    sums[node] += fixed[0][group]
    return _off(fixed, sums, knobs, source) + _off(fixed, sums, knobs, node) - before


@numba.njit(cache=True)
def _propose(fixed, at, sums, knobs, step):  # type: ignore[no-untyped-def]
    """The heaviest of a few groups on the fullest of a few nodes to the emptiest of a few; any group home."""
    load, _, capacity, marked, home = fixed
    step[:] = -1
    most = -1e300
    for _ in range(SAMPLES):
        group = np.random.randint(at.size)
        worth = load[group] * max(sums[at[group]] / capacity[at[group]] - knobs[0], 0.0) + 1e-9 * np.random.random()
        if worth > most:
            step[0, 0], most = group, worth
    least = 1e300
    for _ in range(SAMPLES // 2):
        node = np.random.randint(capacity.size)
        if not marked[node] and node != at[step[0, 0]] and sums[node] / capacity[node] < least:
            step[0, 1], least = node, sums[node] / capacity[node]
    if np.random.random() < 0.5:
        for _ in range(4 * SAMPLES):
            group = np.random.randint(at.size)
            if at[group] != home[group] and group != step[0, 0]:
                step[1, 0], step[1, 1] = group, home[group]
                break
