"""The integer program for the time of a batch, solved: the least sum of levels first, then what is even and cheap."""

from __future__ import annotations

import contextlib

import numpy as np

from streamjob_planners import acceptance, cpsat, drain, measures, milp_levels
from streamjob_planners.batch.bound import bound_of
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.greedy_levels import greedy_levels
from streamjob_planners.model import Clock, FloatArray, IntArray, Plan
from streamjob_planners.problem import Problem

GREEDY_SHARE = 0.3
"""Part of the deadline after which the greedy plan, which the solver may start from as well, must be there."""
TIME_SHARE = 0.6
"""Part of the deadline after which the solve for the least sum must be done."""
DRAIN_SLACK_RATIO = 1.1
"""A drain may leave the levels this much longer than the round could make them."""
DIGITS = 6
"""Of a second, that tell two batches apart."""


class LevelRun:
    """One run within one deadline. Of all placements met, the exact list schedule chooses."""

    def __init__(self, problem: Problem, shape: BatchShape, guess: Plan, seed: int, clock: Clock, start: float) -> None:
        """`guess`: the plan that the solver starts from."""
        self._problem = problem
        self._shape = shape
        self._guess = guess
        self._seed = seed
        self._clock = clock
        self._start = start
        self.bound = 0.0
        self.bound_s = max(bound_of(problem, shape), guess.batch_bound_s or 0.0)
        self.notes: tuple[str, ...] = ()

    def best(self) -> IntArray:
        """The plan's placement."""
        until_s = self._start + GREEDY_SHARE * self._problem.params.deadline_s
        known = [self._guess.node_of, greedy_levels(self._problem, self._shape, self._clock, until_s)]
        program = milp_levels.build(self._problem, self._shape, min(known, key=self._cost))
        least = self._run(program, TIME_SHARE)
        if least is None:
            self.notes = ("The integer program found nothing within the deadline.",)
            return self._chosen(known)
        if least.objective_bound is not None:
            self.bound_s = max(self.bound_s, program.bound_s(least.objective_bound))
        self._then_share(program, least.node_of)
        shared = self._run(program, 1.0)
        found = [] if shared is None else [shared.node_of]
        return self._chosen([*found, least.node_of, *known])

    def _run(self, program: milp_levels.LevelProgram, share: float) -> cpsat.Solution | None:
        params = self._problem.params
        seconds = self._start + share * params.deadline_s - self._clock()
        with contextlib.suppress(cpsat.Infeasible):
            return cpsat.run(program, seed=self._seed, seconds=seconds, max_iterations=params.max_iterations)
        return None

    def _then_share(self, program: milp_levels.LevelProgram, node_of: IntArray) -> None:
        draining = bool(drain.waiting(self._problem, node_of).size)
        reached_s = program.relaxed_s(node_of) * (DRAIN_SLACK_RATIO if draining else 1.0)
        if draining and self._shape.task_s.size:
            reached_s += float(self._shape.task_s.mean())
        milp_levels.then_share(program, reached_s, draining=draining, prices=self._prices())

    def _prices(self) -> FloatArray:
        """Seconds of a batch that each move must gain, loads side by side on all nodes, (n_groups,)."""
        model, params = self._problem.model, self._problem.params
        if acceptance.empty_nodes(model).any():
            return np.zeros(model.n_groups)
        batches = max(params.payback_batches, 1e-9) * np.count_nonzero(~model.marked)
        prices: FloatArray = model.migration_cost_s / batches
        return prices

    def _chosen(self, found: list[IntArray]) -> IntArray:
        model, params = self._problem.model, self._problem.params
        fit = [
            one
            for one in found
            if self._problem.affordable(one)
            and acceptance.no_worse(model, one, params)
            and acceptance.pays(model, one, params)
        ]
        best = min([*fit, model.node_of], key=self._cost)
        return drain.ensure_progress(self._problem, best)

    def _cost(self, node_of: IntArray) -> tuple[float, float, float]:
        """Key groups left on marked nodes, the batch and the price of the moves, the second measure."""
        model = self._problem.model
        batch_s, level_rms_s = measures.effect(model, node_of).seconds
        paid_s = float(self._prices()[node_of != model.node_of].sum())
        still_there = float(drain.drain_weights(self._problem)[drain.waiting(self._problem, node_of)].sum())
        return still_there, round(batch_s + paid_s, DIGITS), level_rms_s
