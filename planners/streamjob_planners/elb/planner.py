"""ELB as a planner: nodes of unequal capacity, marks, pins, limits and a budget."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners import drain, objective, plans
from streamjob_planners.elb.eager import LoadRange, hot_spots
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import Clock, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import Problem, compile_problem

RANGE_RATIO = 0.2
"""Least half width of the load range [v, u], as a part of the mean: the paper gives no value."""
WORK_SHARE = 0.8
"""Part of the deadline for the moves; the rest is for the bound."""


class ElbPlanner:
    """Hot spots of overloaded nodes, largest first, each to the least used underloaded node that can hold it.

    The first phase, how many nodes there should be, belongs to the scaling rule: the nodes it marks are the paper's R.
    """

    name = "elb"

    def __init__(self, *, range_ratio: float = RANGE_RATIO) -> None:
        """`range_ratio`: the least half width of the load range, as a part of the mean, above 0 and up to 1."""
        if not 0 < range_ratio <= 1:
            raise ValueError(f"range_ratio: {range_ratio} given, above 0 and up to 1 is needed")
        self._range_ratio = range_ratio

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic: chance is not used. Raises ValueError on bad parameters."""
        start = clock()
        problem = compile_problem(model, params)
        wanted = load_range(problem, self._range_ratio)
        if wanted is None:
            node_of = model.node_of
        else:
            node_of = best_moves(problem, wanted, lambda: clock() - start >= WORK_SHARE * params.deadline_s)
        node_of = drain.ensure_progress(problem, node_of)
        return plans.bounded_plan(model, node_of, params, planner=self.name, start_s=start, clock=clock)


def load_range(problem: Problem, range_ratio: float) -> LoadRange | None:
    """Utilisations that nodes should have, percent points; None without load.

    The paper assumes that no load is above half the width. So the range is wide enough for every group that a node of
    the mean could hold.
    """
    mean, model = problem.mean, problem.model
    if mean <= 0:
        return None
    heaviest = float(model.load[model.load <= mean].max(initial=0.0))
    half = min(mean, max(range_ratio * mean, heaviest))
    return LoadRange(low=mean - half, high=mean + half)


def best_moves(problem: Problem, wanted: LoadRange, stop: Callable[[], bool]) -> IntArray:
    """The placement after as many of ELB's moves, in its order, as serve the objective best, (n_groups,)."""
    model = problem.model
    capacity = model.capacity
    queue = hot_spots(
        model.load, model.node_of, problem.mean * capacity, wanted.half_width * capacity, np.array(model.marked)
    )
    books = Ledger(problem)
    best, least = model.node_of, objective.cost(problem, model.node_of)
    moves = 0
    for group in queue[problem.movable[queue]].tolist():
        if stop():
            break
        if books.move(group, _target(books, group, wanted.high)):
            moves += 1
            reached = _priced(objective.cost(problem, books.node_of), moves, problem.params)
            if reached < least:
                best, least = books.node_of.copy(), reached
    return best


def _priced(cost: objective.Cost, moves: int, params: PlanParams) -> objective.Cost:
    """A load distance with what the moves must gain; batch times are judged by the gate."""
    return (cost[0] + params.price_per_move * moves,) if len(cost) == 1 else cost


def _target(books: Ledger, group: int, high: float) -> int | None:
    """The least used node below the mean that can hold the group; any that may, for a group that must leave."""
    problem = books.problem
    nodes = books.fitting(group)
    used = books.utilisation()[nodes]
    able = nodes[(used <= problem.mean) & (used + problem.model.load[group] / problem.model.capacity[nodes] <= high)]
    if able.size:
        return int(able[books.utilisation()[able].argmin()])
    return books.least_used_target(group) if problem.model.marked[books.node_of[group]] else None
