"""The correlation-based algorithms as planners: one round of each is one plan."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners import drain, plans
from streamjob_planners.correlation.fill import fill
from streamjob_planners.correlation.improve import THETA, improve_overloaded
from streamjob_planners.correlation.mapping import Mapping, mapping_within
from streamjob_planners.correlation.names import rename
from streamjob_planners.correlation.pairwise import EPSILON, Step, balance_pairs
from streamjob_planners.correlation.placing import cor_glb
from streamjob_planners.correlation.profile import scaled_series
from streamjob_planners.correlation.scores import by_correlation
from streamjob_planners.correlation.twoway import DELTA, exchange, redistribute, send
from streamjob_planners.correlation.within import reached
from streamjob_planners.model import Clock, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import Problem, compile_problem

FULL = 100.0
"""Percent points of a node that has no time left."""
NO_SERIES = "No load series is known yet: nothing is balanced, executors marked for removal are emptied."

Round = Callable[[Mapping, int | None, Callable[[], bool]], None]
"""Changes a mapping; told how many pairs it may try to improve at most, and when to stop."""


class CorrelationPlanner:
    """One round of a correlation-based algorithm, within a budget. Chance is not used."""

    def __init__(self, name: str, change: Round) -> None:
        """`name`: that of the registry; `change`: what a round does."""
        self.name = name
        self._change = change

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Without a load series nothing is balanced. Raises ValueError on bad parameters or a bad series."""
        start = clock()
        problem = compile_problem(model, params)
        series = scaled_series(model)

        def stop() -> bool:
            return clock() - start >= params.deadline_s

        node_of = model.node_of
        if series is not None:
            mapping = mapping_within(problem, series)
            self._plan(problem, mapping, stop)
            node_of = reached(problem, series, mapping.node_of, stop)
        node_of = drain.ensure_progress(problem, node_of)
        plan = plans.bounded_plan(model, node_of, params, planner=self.name, start_s=start, clock=clock)
        return plan if series is not None else dataclasses.replace(plan, notes=(*plan.notes, NO_SERIES))

    def _plan(self, problem: Problem, mapping: Mapping, stop: Callable[[], bool]) -> None:
        """Empties marked nodes as COR-GLB fills nodes, then makes the round."""
        leaving: IntArray = drain.waiting(problem, mapping.node_of)
        fill(mapping, leaving, np.flatnonzero(mapping.open_nodes), by_correlation, stop)
        self._change(mapping, problem.params.max_iterations, stop)


def global_planner() -> CorrelationPlanner:
    """COR-GLB: everything placed anew, wherever it was (section 5.2.2)."""

    def change(mapping: Mapping, rounds: int | None, stop: Callable[[], bool]) -> None:
        if cor_glb(mapping, EPSILON * FULL, THETA, rounds, stop):
            rename(mapping)

    return CorrelationPlanner("cor-glb", change)


def one_way_planner() -> CorrelationPlanner:
    """COR-BAL: the more loaded node of each pair sends (section 5.2.1)."""

    def change(mapping: Mapping, rounds: int | None, stop: Callable[[], bool]) -> None:
        balance_pairs(mapping, EPSILON * FULL, send, stop)

    return CorrelationPlanner("cor-bal", change)


def redistribution_planner() -> CorrelationPlanner:
    """COR-RE-IMP: both nodes of a pair refilled, and correlations improved (section 5.2.1)."""
    return CorrelationPlanner("cor-re", improved(redistribute))


def exchange_planner() -> CorrelationPlanner:
    """COR-SE-IMP: the best of both nodes swapped, and correlations improved (section 5.2.1)."""
    return CorrelationPlanner("cor-se", improved(exchange(DELTA)))


def improved(step: Step) -> Round:
    """Figure 5.5: pairs balanced with a two-way algorithm, then those improved that may soon be overloaded."""

    def change(mapping: Mapping, rounds: int | None, stop: Callable[[], bool]) -> None:
        balance_pairs(mapping, EPSILON * FULL, step, stop)
        improve_overloaded(mapping, THETA, FULL, step, stop)

    return change
