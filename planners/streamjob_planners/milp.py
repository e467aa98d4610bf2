"""The planner that solves the paper's integer program, up to sizes where that pays, from the hint of a faster one.

CP-SAT was chosen over SCIP and HiGHS: it starts from a hint, can be told to stop, and answers within its time. Its plan
at the deadline is the best solution it has reported, or the hint's.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import acceptance, milp_program, plans
from streamjob_planners.milp_distance import DistanceRun
from streamjob_planners.milp_run import LevelRun
from streamjob_planners.milp_settings import OURS
from streamjob_planners.model import Clock, LoadModel, Objective, Plan, Planner, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.search import SearchPlanner

MAX_PAIRS = 200_000
"""Binary variables above which building the program alone eats a round; the hint's answer is used then."""
HINT_SHARE = 0.2
"""Part of the deadline after which the hint must be there."""


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
        guess = self._hint.solve(model, hint_params(params), rng, clock)
        seed = int(rng.integers(2**31 - 1))
        run: DistanceRun | LevelRun
        if milp_program.pairs(problem) > MAX_PAIRS:
            return too_large(guess, self.name, clock() - start)
        if model.batch is not None and params.objective_of(model) is Objective.BATCH_TIME:
            run = LevelRun(problem, model.batch, guess, seed, clock, start)
        else:
            run = DistanceRun(problem, OURS, guess.node_of, seed, clock, start)
        found = run.best()
        # A node that is to go and cannot be emptied may be the program's distance, whatever the others do.
        worse = not acceptance.no_worse(model, found, params)
        return plans.make_plan(
            model,
            guess.node_of if worse else found,
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=max(run.bound, guess.lower_bound or 0.0),
            batch_bound_s=run.bound_s,
            notes=run.notes,
        )


def hint_params(params: PlanParams) -> PlanParams:
    """What the planner of the hint is told."""
    return dataclasses.replace(params, deadline_s=params.deadline_s * HINT_SHARE)


def too_large(guess: Plan, name: str, elapsed_s: float) -> Plan:
    """The hint's plan in the name of the planner that would have had to build too large a program."""
    return dataclasses.replace(guess, planner=name, elapsed_s=elapsed_s, notes=(too_large_note(guess), *guess.notes))


def too_large_note(guess: Plan) -> str:
    """Says whose plan it is."""
    return f"The model is too large for the integer program; this is the plan of '{guess.planner}'."
