"""The planner that changes nothing: the floor that every other one must keep."""

from __future__ import annotations

import numpy as np

from streamjob_planners import bound, plans
from streamjob_planners.model import Clock, LoadModel, Plan, PlanParams
from streamjob_planners.problem import check_params


class HoldPlanner:
    """Answers today's placement."""

    name = "hold"

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """No moves. Raises ValueError for bad parameters, like every planner."""
        start = clock()
        check_params(params)
        lower = bound.bound_in_time(model, params, lambda: start + params.deadline_s - clock())
        return plans.hold_plan(model, planner=self.name, elapsed_s=clock() - start, lower_bound=lower)
