"""The planner of a replay: levels are evened out, nothing is proven, and no clock has a say."""

from __future__ import annotations

import numpy as np

from streamjob_planners import drain, plans
from streamjob_planners.acceptance import no_worse, pays
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.greedy import GreedyPlanner
from streamjob_planners.greedy_levels import greedy_levels
from streamjob_planners.model import Clock, LoadModel, Objective, Plan, Planner, PlanParams
from streamjob_planners.problem import compile_problem


class LevelPlanner:
    """As the greedy planner by batch time, without its bounds: these take most of a cycle, and change no decision."""

    name = "levels"

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic where `params.max_iterations` is set; where batches are not predicted, the greedy planner's."""
        if model.batch is None or params.objective_of(model) is not Objective.BATCH_TIME:
            return GreedyPlanner().solve(model, params, rng, clock)
        problem = compile_problem(model, params)
        node_of = greedy_levels(problem, model.batch, clock, np.inf)
        moves = not np.array_equal(node_of, model.node_of)
        kept = moves and no_worse(model, node_of, params) and pays(model, node_of, params)
        node_of = drain.ensure_progress(problem, node_of if kept else model.node_of)
        return plans.make_plan(model, node_of, planner=self.name, elapsed_s=0.0)


class LevelPlanning:
    """Planning that gives this planner, whatever the job names."""

    def planner(self, name: str, settings: AlbicSettings) -> Planner:
        """See Planning."""
        return LevelPlanner()
