"""Emptying marked nodes: what every planner shares, so that lemma 2 of the paper holds for whole groups.

A solver that only minimises the load distance leaves the last groups on marked nodes for ever: with groups as units,
taking them can cost a little load distance. So draining comes second in a lexicographic order: as much load as
possible leaves the marked nodes while the load distance stays within `drain_limit`. Where even that moves nothing for a
whole round, although nothing more urgent was done, `ensure_progress` drains at any price: the nodes were marked, and a
drain that never ends costs an executor.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners import measures
from streamjob_planners.distance_doubt import distance_doubt
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

DRAIN_SLACK_RATIO = 1.02
"""A drain may leave the load distance this much above the best that the round could reach."""
GRAIN_RATIO = 0.5
"""And half of what one key group brings to a node: the last groups cannot be placed more finely than that."""
RELIEF_RATIO = 0.05
"""A round that lowers the load distance by this part of it did something more urgent than draining."""


def stretch(problem: Problem, node_of: IntArray) -> float:
    """The MILP's d: the load distance, or a marked node's utilisation above the mean if that is more."""
    model = problem.model
    apart = measures.utilisation(model, node_of) - problem.mean
    return float(np.where(model.marked, apart, np.abs(apart)).max())


def drain_limit(problem: Problem, reached: float) -> float:
    """Load distance that draining may use, when `reached` is the best of this round."""
    return max(DRAIN_SLACK_RATIO * reached, problem.params.tolerance, GRAIN_RATIO * group_utilisation(problem))


def group_utilisation(problem: Problem) -> float:
    """What one key group brings to a node on average, percent points."""
    model = problem.model
    return float(model.load.mean() / model.capacity.mean()) if model.n_groups else 0.0


def drain_weights(problem: Problem) -> FloatArray:
    """What leaving a marked node is worth per group: its load, and a little for groups without load, (n_groups,)."""
    load = problem.model.load
    return load + max(0.05 * float(load.mean()), 1e-6) if load.size else load


def waiting(problem: Problem, node_of: IntArray) -> IntArray:
    """Movable groups that are still on marked nodes, indices."""
    return np.flatnonzero(problem.model.marked[node_of] & problem.movable)


def drain_within(
    problem: Problem, node_of: IntArray, limit: float, stop: Callable[[], bool] = lambda: False
) -> IntArray:
    """Drain what fits without lifting any node above `limit` over the mean; heaviest groups first, until `stop`."""
    books = Ledger(problem, node_of)
    for group in books.heaviest_first(waiting(problem, node_of)):
        if stop():
            break
        books.move(group, books.least_used_target(group, below=problem.mean + limit))
    return books.node_of


def ensure_progress(problem: Problem, node_of: IntArray) -> IntArray:
    """`node_of`, or, if it neither drains nor relieves, one that drains at least one group if any can be placed."""
    model = problem.model
    if not waiting(problem, model.node_of).size or measures.drains(model, node_of):
        return node_of
    before, after = stretch(problem, model.node_of), stretch(problem, node_of)
    gain = before - after
    # What may be noise nobody will carry out.
    if gain > max(problem.params.tolerance, RELIEF_RATIO * before) and gain > distance_doubt(model, node_of):
        return node_of
    return one_drained(problem, node_of, lambda start: _drain_one(problem, start))


def one_drained(problem: Problem, node_of: IntArray, drain_one: Callable[[IntArray], IntArray]) -> IntArray:
    """`node_of`, or else today's placement, after `drain_one`; `node_of` as it is where that drains neither."""
    for start in (node_of, problem.model.node_of):
        found = drain_one(start)
        if measures.drains(problem.model, found):
            return found
    return node_of


def _drain_one(problem: Problem, node_of: IntArray) -> IntArray:
    books = Ledger(problem, node_of)
    for group in reversed(books.heaviest_first(waiting(problem, node_of))):
        if books.move(group, books.least_used_target(group)):
            break
    return books.node_of
