"""The paper's integer program (section 4.3.1) as printed, with CP-SAT in place of CPLEX: to compare with.

The load distance alone is planned for, also where a model says what a batch takes. `params.tolerance` and
`params.price_per_move` are not the paper's: 0 is its program. A placement that is worse than today's by the exact mean,
which the rounded one can prefer, is not given.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import acceptance, milp, milp_program, plans
from streamjob_planners.milp_distance import DistanceRun
from streamjob_planners.milp_settings import PUBLISHED, MilpSettings
from streamjob_planners.model import Clock, IntArray, LoadModel, Plan, Planner, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.search import SearchPlanner

WORSE = "By the exact mean the program's placement is no better than today's: nothing changes."


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
        guess = self._hint.solve(model, milp.hint_params(params), rng, clock)
        if milp_program.pairs(problem) > milp.MAX_PAIRS:
            return milp.too_large(guess, self.name, clock() - start)
        run = DistanceRun(problem, self._settings, guess.node_of, int(rng.integers(2**31 - 1)), clock, start)
        node_of, notes = _acceptable(model, run.best(), params)
        return plans.make_plan(
            model,
            node_of,
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=max(run.bound, guess.lower_bound or 0.0),
            batch_bound_s=guess.batch_bound_s,
            notes=(*run.notes, *notes),
        )


def _acceptable(model: LoadModel, node_of: IntArray, params: PlanParams) -> tuple[IntArray, tuple[str, ...]]:
    if acceptance.no_worse(model, node_of, params):
        return node_of, ()
    return model.node_of, (WORSE,)
