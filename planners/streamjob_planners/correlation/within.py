"""From a mapping plan to a placement that keeps the budget: the moves that help most per price first.

What helps is a fall of the mean square of the nodes' use over all windows: the square of how far a node is from the
mean, plus the variance of its load (problem 2 of section 3.2.2 asks for both to be small).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners import drain
from streamjob_planners.acceptance import ROUNDING, no_worse
from streamjob_planners.correlation.mapping import Mapping, mapping_within
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, PlanParams
from streamjob_planners.problem import Problem
from streamjob_planners.units import Prices, prices


def reached(problem: Problem, series: FloatArray, target: IntArray, stop: Callable[[], bool]) -> IntArray:
    """The target, or as much of it as the budget and today's load distance allow, (n_groups,)."""
    if problem.affordable(target) and acceptable(problem.model, target, problem.params):
        return target
    partly = _walk(problem, mapping_within(problem, series), target, stop)
    return partly if acceptable(problem.model, partly, problem.params) else problem.model.node_of


def acceptable(model: LoadModel, node_of: IntArray, params: PlanParams) -> bool:
    """Whether a placement drains marked nodes, or at least does not make worse what the objective counts."""
    return no_worse(model, node_of, params, collocates=False, saves=False)


def _walk(problem: Problem, mapping: Mapping, target: IntArray, stop: Callable[[], bool]) -> IntArray:
    allowance = prices(problem.model, problem.params.budget)
    left, pending = allowance.limit, mapping.node_of != target
    band = drain.stretch(problem, mapping.node_of) + ROUNDING
    while not stop():
        group = _next(problem, mapping, target, _payable(pending, allowance, left), band)
        if group is None:
            break
        left -= float(allowance.cost[group])
        pending[group] = False
        mapping.put(group, int(target[group]))
    return mapping.node_of


def _payable(pending: BoolArray, allowance: Prices, left: float) -> FloatArray:
    """Price of each pending group that can still be paid, inf for all others, (n_groups,)."""
    return np.where(pending & (allowance.cost <= left), allowance.cost, np.inf)


def _next(problem: Problem, mapping: Mapping, target: IntArray, price: FloatArray, band: float) -> int | None:
    """The group on a marked node, or else any, whose move lowers the mean square most per price."""
    groups = np.flatnonzero(np.isfinite(price))
    groups = groups[_room(mapping, groups, target[groups])]
    groups = groups[_within(problem, mapping, groups, target[groups], band)]
    drains = problem.model.marked[mapping.node_of[groups]]
    fall = _fall(mapping, groups, target[groups])
    useful = drains | (fall > 0)
    if not useful.any():
        return None
    worth = np.where(useful, fall / np.maximum(price[groups], 1e-9), -np.inf)
    return int(groups[np.lexsort((-worth, ~drains))[0]])


def _room(mapping: Mapping, groups: IntArray, nodes: IntArray) -> BoolArray:
    free = np.zeros(groups.size, dtype=np.bool_)
    for node in np.unique(nodes).tolist():
        free[nodes == node] = mapping.takes(groups[nodes == node], node)
    return free


def _within(problem: Problem, mapping: Mapping, groups: IntArray, nodes: IntArray, band: float) -> BoolArray:
    """True where both nodes stay within the band around the mean use; marked ones may give anything."""
    load, capacity = mapping.total.mean(axis=1), mapping.capacity
    source, own = mapping.node_of[groups], mapping.mean[groups]
    low = problem.mean - (load[source] - own) / capacity[source]
    high = (load[nodes] + own) / capacity[nodes] - problem.mean
    fits: BoolArray = (problem.model.marked[source] | (low <= band)) & (high <= band)
    return fits


def _fall(mapping: Mapping, groups: IntArray, nodes: IntArray) -> FloatArray:
    """By how much the mean square of the nodes' use falls when a group goes to its node, (n,)."""
    own, source = mapping.series[groups], mapping.node_of[groups]
    left = (2 * mapping.total[source] * own - own**2) / mapping.capacity[source, None]
    joined = (2 * mapping.total[nodes] * own + own**2) / mapping.capacity[nodes, None]
    fall: FloatArray = (left - joined).mean(axis=1)
    return fall
