"""ALBIC as published (section 4.3.2, algorithm 2): one pair a round, then the inner solver with all sets whole.

Step 1 (lines 1 to 14) scores pairs, step 2 (15 to 23) keeps together what is together, step 3 (24 to 37) pulls one pair
more to one node, step 4 (38 to 43) solves, with lighter units while the load distance is too large. Each is a module.
"""

from __future__ import annotations

import dataclasses
import itertools

import numpy as np

from streamjob_planners import plans, registry, what_if
from streamjob_planners.albic.settings import INNER, AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs, beneficial_pairs, joining
from streamjob_planners.albic.step_2_maintain import SetLimits, maintained
from streamjob_planners.albic.step_3_improve import heaviest_pairs, pull_for, pulled
from streamjob_planners.albic.step_4_solve import descend, unit_loads
from streamjob_planners.albic.task import Task, start_task
from streamjob_planners.milp_paper import MilpPaperPlanner
from streamjob_planners.model import Clock, IntArray, LoadModel, Plan, Planner, PlanParams

_PAIRS_TRIED = 50
"""Pairs looked at when the heaviest ones cannot be pulled together (pins, budget)."""


class AlbicPaperPlanner:
    """The paper's algorithm with a search of ours in place of the integer program and CPLEX."""

    name = "albic-paper"

    def __init__(self, settings: AlbicSettings | None = None, inner: Planner | None = None) -> None:
        """`inner`: the planner that balances units; `settings.INNER` where None."""
        self._settings = settings or AlbicSettings()
        self._inner = inner or registry.get(INNER)

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plans one round. Raises ValueError on bad parameters."""
        task = start_task(model, params, rng, clock, self._inner)
        pairs = beneficial_pairs(model, self._settings.score_factor)  # step 1
        apart = heaviest_pairs(pairs, model.node_of, rng)
        found = descend(
            model,
            unit_loads(self._settings),
            lambda max_load: _round(task, pairs, apart, max_load),
            params.max_load_distance,
            task.expired,
        )
        kept = task.acceptable(found.node_of)
        node_of = found.node_of if kept else model.node_of
        notes = (
            []
            if found.max_load == self._settings.max_partition_load
            else [f"Sets of more than {found.max_load:g} points were split to keep the load distance."]
        )
        return plans.make_plan(
            model,
            node_of,
            planner=self.name,
            batch_bound_s=plans.batch_bound_in_time(model, params, task.left_s),
            lower_bound=task.lower_bound(),
            elapsed_s=clock() - task.start_s,
            notes=tuple(notes),
            collocating=joining(model, node_of, pairs),
        )


class AlbicPaperMilpPlanner(AlbicPaperPlanner):
    """The paper's algorithm with its integer program inside, solved by CP-SAT."""

    name = "albic-paper-milp"

    def __init__(self, settings: AlbicSettings | None = None) -> None:
        super().__init__(settings, MilpPaperPlanner())


def _round(task: Task, pairs: Pairs, apart: Pairs, max_load: float) -> IntArray:
    """Steps 2 to 4 with one largest unit; at 0 points no pair is pulled."""
    model, limits = task.model, SetLimits(max_load=max_load, max_cost=task.prices.limit)
    unit_of = maintained(model, pairs, task.prices.cost, limits)
    if max_load <= 0.0:
        return task.balance(model, unit_of, task.prices)
    for pair in itertools.islice(zip(apart.first.tolist(), apart.second.tolist(), strict=True), _PAIRS_TRIED):
        pull = pull_for(model, unit_of, pair)
        node_of = pulled(model, unit_of, pull, task.prices)
        if node_of is not None:
            held = np.isin(unit_of, (pull.first, pull.second))
            moved = what_if.with_owners(model, node_of)
            moved = dataclasses.replace(moved, pinned=moved.pinned | held)
            return task.balance(moved, unit_of, task.left(node_of))
    return task.balance(model, unit_of, task.prices)
