"""ALBIC improved: as many pairs a round as the budget and the load distance allow, best benefit per cost first.

A round is up to three steps on one budget: relief (marked nodes, or a load distance that cannot wait), a walk towards a
target that keeps partners together, and balance with what is left. All keep sets whole as the paper does, and split
them only where the load distance would stay above max_load_distance. Where the time of a batch counts, levels are
levelled instead (`by_time`).
"""

from __future__ import annotations

import numpy as np

from streamjob_planners import plans, registry, traffic
from streamjob_planners.albic.improved.by_time import plan_by_time
from streamjob_planners.albic.improved.round import Round
from streamjob_planners.albic.settings import INNER, AlbicSettings
from streamjob_planners.albic.step_1_scores import beneficial_pairs, joining
from streamjob_planners.albic.task import Task, start_task
from streamjob_planners.model import Clock, IntArray, LoadModel, Objective, Plan, Planner, PlanParams


class AlbicPlanner:
    """Balances, drains and collocates in one plan."""

    name = "albic"

    def __init__(self, settings: AlbicSettings | None = None, inner: Planner | None = None) -> None:
        """`inner`: the planner that balances units; `settings.INNER` where None."""
        self._settings = settings or AlbicSettings()
        self._inner = inner or registry.get(INNER)

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plans one round. Raises ValueError on bad parameters."""
        given, by_time = model, params.objective_of(model) is Objective.BATCH_TIME
        if by_time:
            model = traffic.worth_planning(model, traffic.payback_s(model, params))
        task = start_task(model, params, rng, clock, self._inner)
        pairs = beneficial_pairs(model, self._settings.score_factor)
        round_ = Round(task, pairs, self._settings)
        node_of = plan_by_time(task, pairs, round_.walked) if by_time else self._by_load(task, round_)
        return plans.make_plan(
            given,
            node_of if task.acceptable(node_of) else model.node_of,
            planner=self.name,
            batch_bound_s=plans.batch_bound_in_time(model, params, task.left_s),
            lower_bound=task.lower_bound(),
            elapsed_s=clock() - task.start_s,
            notes=tuple(round_.notes),
            collocating=joining(model, node_of, pairs),
        )

    def _by_load(self, task: Task, round_: Round) -> IntArray:
        node_of = round_.relieved(task.model.node_of)
        node_of = round_.walked(node_of)
        node_of = round_.balanced(node_of)
        if not task.acceptable(node_of):
            node_of = round_.afresh(task.model.node_of)
        return node_of
