"""The planner that solves the paper's integer program, up to sizes where that pays, from the hint of a faster one.

CP-SAT was chosen over SCIP and HiGHS: it starts from a hint, can be told to stop, and answers within its time. Its plan
at the deadline is the best solution it has reported, or the hint's.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import cpsat, drain, milp_model, milp_program, plans
from streamjob_planners.milp_run import LevelRun
from streamjob_planners.model import Clock, IntArray, LoadModel, Objective, Plan, Planner, PlanParams
from streamjob_planners.problem import Problem, compile_problem
from streamjob_planners.search import SearchPlanner

MAX_PAIRS = 200_000
"""Binary variables above which building the program alone eats a round; the hint's answer is used then."""
HINT_SHARE, BALANCE_SHARE = 0.2, 0.7
"""Parts of the deadline after which the hint, and the solve for the least distance, must be done."""


class MilpPlanner:
    """The full program with CP-SAT."""

    name = "milp"

    def __init__(self, *, hint: Planner | None = None) -> None:
        """`hint`: the planner whose answer the solver starts from, and which answers for too large models."""
        self._hint = hint or SearchPlanner()

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plan; deterministic under max_iterations. Raises ValueError on bad parameters."""
        start = clock()
        problem = compile_problem(model, params)
        guess = self._hint.solve(model, _part(params, HINT_SHARE), rng, clock)
        seed = int(rng.integers(2**31 - 1))
        run: _Run | LevelRun
        if milp_program.pairs(problem) > MAX_PAIRS:
            return self._too_large(guess, clock() - start)
        if model.batch is not None and params.objective_of(model) is Objective.BATCH_TIME:
            run = LevelRun(problem, model.batch, guess, seed, clock, start)
        else:
            run = _Run(problem, guess.node_of, seed, clock, start)
        return plans.make_plan(
            model,
            run.best(),
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=max(run.bound, guess.lower_bound or 0.0),
            batch_bound_s=run.bound_s,
            notes=run.notes,
        )

    def _too_large(self, guess: Plan, elapsed_s: float) -> Plan:
        note = f"The model is too large for the integer program; this is the plan of '{self._hint.name}'."
        return dataclasses.replace(guess, planner=self.name, elapsed_s=elapsed_s, notes=(note, *guess.notes))


def _part(params: PlanParams, share: float) -> PlanParams:
    return dataclasses.replace(params, deadline_s=params.deadline_s * share)


class _Run:
    """Least distance first, then the most drained within its slack, both within one deadline."""

    def __init__(self, problem: Problem, hint: IntArray, seed: int, clock: Clock, start: float) -> None:
        self._problem = problem
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
        program = milp_model.build(problem, self._hint)
        node_of = self._least_distance(program)
        if drain.waiting(problem, node_of).size:
            node_of = self._most_drained(program, node_of)
        return drain.ensure_progress(problem, node_of)

    def _least_distance(self, program: milp_model.DistanceProgram) -> IntArray:
        share = BALANCE_SHARE if self._problem.model.marked.any() else 1.0
        found = self._run(program, share)
        if found is None:
            self.notes = (*self.notes, "The integer program found nothing within the deadline.")
            return self._keep_better(self._hint, self._problem.model.node_of)
        model = self._problem.model
        # The program's d also counts marked nodes above the mean: its bound is one on the load distance without them.
        if found.objective_bound is not None and not model.marked[model.node_of].any():
            self.bound = milp_model.bound_on_d(self._problem, found.objective_bound)
        return self._keep_better(found.node_of, self._hint)

    def _run(self, program: milp_model.DistanceProgram, share: float) -> cpsat.Solution | None:
        params = self._problem.params
        seconds = self._start + share * params.deadline_s - self._clock()
        return cpsat.run(program, seed=self._seed, seconds=seconds, max_iterations=params.max_iterations)

    def _most_drained(self, program: milp_model.DistanceProgram, node_of: IntArray) -> IntArray:
        limit = drain.drain_limit(self._problem, drain.stretch(self._problem, node_of))
        within = drain.drain_within(self._problem, node_of, limit)
        milp_model.then_drain(program, limit)
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
        params, model = self._problem.params, self._problem.model
        if not self._problem.affordable(node_of):
            return np.inf
        moves = int(np.count_nonzero(node_of != model.node_of))
        return max(drain.stretch(self._problem, node_of), params.tolerance) + params.price_per_move * moves
