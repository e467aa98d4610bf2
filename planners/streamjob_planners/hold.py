"""The planner that changes nothing: the floor that every other one must keep."""

from __future__ import annotations

import numpy as np

from streamjob_planners import plans
from streamjob_planners.model import Clock, LoadModel, Plan, PlanParams
from streamjob_planners.problem import check_params


class HoldPlanner:
    """Answers today's placement."""

    name = "hold"

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """No moves. Raises ValueError for bad parameters, like every planner."""
        start = clock()
        check_params(params)
        return plans.bounded_plan(model, model.node_of, params, planner=self.name, start_s=start, clock=clock)
