"""The paper's integer program (section 4.3.1) as printed, with CP-SAT in place of CPLEX: to compare with.

The load distance alone is planned for, also where a model says what a batch takes. `params.tolerance` and
`params.price_per_move` are not the paper's: 0 is its program. A placement that is worse than today's by the exact mean,
which the rounded one can prefer, or by the time of a batch where that is the objective, is not given.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import acceptance, milp, milp_program, plans
from streamjob_planners.milp_distance import DistanceRun
from streamjob_planners.milp_settings import PUBLISHED, MilpSettings
from streamjob_planners.model import Clock, LoadModel, Objective, Plan, Planner, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.search import SearchPlanner

WORSE = "By the exact mean, or the time of a batch, the program's placement is worse than today's: nothing changes."


class MilpPaperPlanner:
    """Constraints (1) to (5) and the mean of table 2; each clause can be had alone."""

    name = "milp-paper"

    def __init__(self, settings: MilpSettings = PUBLISHED, *, hint: Planner | None = None) -> None:
        """`hint`: the planner whose answer the solver looks at first, and which answers for too large models."""
        self._settings = settings
        self._hint = hint or SearchPlanner()

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plan; deterministic under max_iterations. Raises ValueError on bad parameters."""
        start = clock()
        problem = compile_problem(model, params)
        guess = self._hint.solve(model, _hint_params(params), rng, clock)
        run = DistanceRun(problem, self._settings, guess.node_of, int(rng.integers(2**31 - 1)), clock, start)
        small = milp_program.pairs(problem) <= milp.MAX_PAIRS
        found = run.best() if small else guess.node_of
        notes = run.notes if small else (milp.too_large_note(guess),)
        worse = not acceptance.no_worse(model, found, params)
        return plans.make_plan(
            model,
            model.node_of if worse else found,
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=max(run.bound, guess.lower_bound or 0.0),
            batch_bound_s=plans.batch_bound_in_time(model, params, lambda: start + params.deadline_s - clock()),
            notes=(*notes, WORSE) if worse else notes,
        )


def _hint_params(params: PlanParams) -> PlanParams:
    """The hint has the program's goal: it is the answer where the solver finds nothing in time."""
    return dataclasses.replace(milp.hint_params(params), objective=Objective.LOAD_DISTANCE)
