"""A greedy planner after Cruise Control's resource distribution goals: drain, shed, fill, within a threshold.

By load distance, marked nodes are emptied first, onto the least used nodes; then every node above ``mean + margin``
sheds groups, heaviest first, to the least used node that stays within; then every node below ``mean - margin`` fills up
from the most used ones. There is no look-ahead and no swap: this is the baseline that better planners are measured
against. By batch time, levels take the place of all load (`greedy_levels`).
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import drain, measures, plans
from streamjob_planners.acceptance import no_worse, pays
from streamjob_planners.greedy_levels import greedy_levels
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import Clock, IntArray, LoadModel, Objective, Plan, PlanParams
from streamjob_planners.problem import Problem, compile_problem

BALANCE_MARGIN_RATIO = 0.1
"""Nodes within 10 % of the mean are left alone: the default of Cruise Control's balance thresholds."""


class GreedyPlanner:
    """Drain, shed, fill."""

    name = "greedy"

    def __init__(self, *, margin_ratio: float = BALANCE_MARGIN_RATIO) -> None:
        """`margin_ratio`: nodes within this part of the mean are left alone, 0 to 1."""
        if not 0 <= margin_ratio <= 1:
            raise ValueError(f"margin_ratio: {margin_ratio} given, 0 to 1 is needed")
        self._margin_ratio = margin_ratio

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic: chance is not used. Raises ValueError on bad parameters."""
        start = clock()
        problem = compile_problem(model, params)
        by_time = params.objective_of(model) is Objective.BATCH_TIME
        node_of = _by_batch_time(problem, clock, start) if by_time else self._by_load(problem, clock, start)
        node_of = drain.ensure_progress(problem, node_of)
        return plans.bounded_plan(model, node_of, params, planner=self.name, start_s=start, clock=clock)

    def _by_load(self, problem: Problem, clock: Clock, start: float) -> IntArray:
        model, params, books = problem.model, problem.params, Ledger(problem)
        margin = max(problem.params.tolerance, self._margin_ratio * problem.mean)
        run = _Run(books, margin, clock, start + params.deadline_s, params.max_iterations)
        run.drain()
        run.shed()
        run.fill()
        return books.node_of if _better(problem, books) else model.node_of


def _by_batch_time(problem: Problem, clock: Clock, start: float) -> IntArray:
    model, params = problem.model, problem.params
    if model.batch is None:
        return model.node_of
    node_of = greedy_levels(problem, model.batch, clock, start + params.deadline_s)
    kept = no_worse(model, node_of, params) and pays(model, node_of, params)
    return node_of if kept else model.node_of


def _better(problem: Problem, books: Ledger) -> bool:
    model, params = problem.model, problem.params
    before = measures.effect(model, model.node_of)
    after = measures.effect(model, books.node_of)
    if after.marked_groups < before.marked_groups:
        return True
    moves = int(np.count_nonzero(books.node_of != model.node_of))
    return before.load_distance - after.load_distance > params.price_per_move * moves


class _Run:
    """One pass over the nodes; stops at the deadline or after max_iterations candidates."""

    def __init__(self, books: Ledger, margin: float, clock: Clock, deadline: float, max_iterations: int | None) -> None:
        self._books = books
        self._margin = margin
        self._clock = clock
        self._deadline = deadline
        self._left = np.inf if max_iterations is None else max_iterations

    def drain(self) -> None:
        """Empty marked nodes, heaviest groups first, each onto the node it leaves least used."""
        books = self._books
        for group in books.heaviest_first(np.flatnonzero(books.problem.model.marked[books.node_of])):
            if self._over():
                return
            books.move(group, books.least_used_target(group))

    def shed(self) -> None:
        """Nodes above the margin give groups away, the most used node first, never lifting another above it."""
        books = self._books
        high = books.problem.mean + self._margin
        for node in np.argsort(-books.utilisation(), kind="stable"):
            for group in books.heaviest_first(np.flatnonzero(books.node_of == node)):
                if self._over() or books.utilisation()[node] <= high:
                    break
                books.move(group, books.least_used_target(group, below=high))

    def fill(self) -> None:
        """Nodes below the margin take groups from the most used nodes, as long as these stay within."""
        books = self._books
        low, high = books.problem.mean - self._margin, books.problem.mean + self._margin
        for node in np.argsort(books.utilisation(), kind="stable"):
            if books.problem.model.marked[node]:
                continue
            for group in _from_most_used(books, int(node)):
                if self._over() or books.utilisation()[node] >= low:
                    break
                if books.after_leaving(group) >= low and books.after_joining(group, int(node)) <= high:
                    books.move(group, int(node) if books.fits(group, int(node)) else None)

    def _over(self) -> bool:
        self._left -= 1
        return self._left < 0 or self._clock() >= self._deadline


def _from_most_used(books: Ledger, node: int) -> list[int]:
    """Movable groups of other nodes, by the use of their node, then by load."""
    groups = np.flatnonzero((books.node_of != node) & books.problem.movable)
    order = np.lexsort((-books.load[groups], -books.utilisation()[books.node_of[groups]]))
    return [int(k) for k in groups[order]]
