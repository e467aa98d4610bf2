"""The integer program of the load distance, solved: least distance first, then the most drained within its slack."""

from __future__ import annotations

import contextlib
import dataclasses

import numpy as np

from streamjob_planners import cpsat, drain, milp_model
from streamjob_planners.milp_settings import MilpSettings
from streamjob_planners.model import Clock, IntArray
from streamjob_planners.problem import Problem

BALANCE_SHARE = 0.7
"""Part of the deadline after which the solve for the least distance must be done, where another one follows."""
NOT_WITHIN = "No placement within the budget keeps every node within twice the mean (constraint 5): nothing changes."
NOTHING_FOUND = "The integer program found nothing within the deadline."


class DistanceRun:
    """One run within one deadline."""

    def __init__(
        self, problem: Problem, settings: MilpSettings, hint: IntArray, seed: int, clock: Clock, start: float
    ) -> None:
        """`hint`: the placement that the solver looks at first, (n_groups,)."""
        mean = float(np.ceil(problem.mean)) if settings.ceiled_mean else problem.mean
        self._problem = dataclasses.replace(problem, mean=mean)
        self._settings = settings
        self._hint = hint
        self._seed = seed
        self._clock = clock
        self._start = start
        self.bound = 0.0
        self.bound_s: float | None = None
        self.notes: tuple[str, ...] = ()

    def best(self) -> IntArray:
        """The plan's placement."""
        problem = self._problem
        program = milp_model.build(problem, self._hint, self._settings)
        node_of = self._least_distance(program)
        if not self._settings.drains:
            return node_of
        if drain.waiting(problem, node_of).size:
            node_of = self._most_drained(program, node_of)
        return drain.ensure_progress(problem, node_of)

    def _least_distance(self, program: milp_model.DistanceProgram) -> IntArray:
        second = self._settings.drains and self._problem.model.marked.any()
        today = self._problem.model.node_of
        nothing = NOTHING_FOUND
        try:
            found = self._run(program, BALANCE_SHARE if second else 1.0)
        except cpsat.Infeasible:
            found, nothing = None, NOT_WITHIN if self._settings.within_mean else NOTHING_FOUND
        if found is None:
            self.notes = (nothing,)
            return self._keep_better(today, self._hint)
        self.bound = self._proven(found)
        return self._keep_better(found.node_of, self._hint)

    def _proven(self, found: cpsat.Solution) -> float:
        """What the solver's bound says of the load distance of any plan, percent points."""
        model, settings = self._problem.model, self._settings
        # The program's d also counts marked nodes above the mean: its bound is one on the load distance without them.
        says_nothing = settings.ceiled_mean or settings.within_mean or model.marked[model.node_of].any()
        if says_nothing or found.objective_bound is None:
            return 0.0
        return milp_model.bound_on_d(self._problem, found.objective_bound)

    def _run(self, program: milp_model.DistanceProgram, share: float) -> cpsat.Solution | None:
        params = self._problem.params
        seconds = self._start + share * params.deadline_s - self._clock()
        return cpsat.run(program, seed=self._seed, seconds=seconds, max_iterations=params.max_iterations)

    def _most_drained(self, program: milp_model.DistanceProgram, node_of: IntArray) -> IntArray:
        limit = drain.drain_limit(self._problem, drain.stretch(self._problem, node_of))
        within = drain.drain_within(self._problem, node_of, limit)
        milp_model.then_drain(program, limit)
        found = None
        with contextlib.suppress(cpsat.Infeasible):
            found = self._run(program, 1.0)
        candidates = [within] if found is None else [found.node_of, within]
        return min([*candidates, node_of], key=lambda one: self._still_there(one, limit))

    def _still_there(self, node_of: IntArray, limit: float) -> tuple[bool, float]:
        left = drain.waiting(self._problem, node_of)
        too_far = drain.stretch(self._problem, node_of) > limit * (1 + 1e-6) + 1e-5
        return too_far, float(drain.drain_weights(self._problem)[left].sum())

    def _keep_better(self, one: IntArray, other: IntArray) -> IntArray:
        """The one whose distance, plus the price of its moves, is smaller; the first at a tie."""
        return one if self._total(one) <= self._total(other) + 1e-9 else other

    def _total(self, node_of: IntArray) -> float:
        problem = self._problem
        params, distance = problem.params, drain.stretch(problem, node_of)
        if not problem.affordable(node_of) or (self._settings.within_mean and distance > milp_model.most_d(problem)):
            return np.inf
        moves = int(np.count_nonzero(node_of != problem.model.node_of))
        return max(distance, params.tolerance) + params.price_per_move * moves
