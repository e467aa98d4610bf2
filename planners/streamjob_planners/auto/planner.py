"""The planner `auto`."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import registry
from streamjob_planners.albic.improved.planner import AlbicPlanner
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.auto.choice import RULES, USUAL, choose
from streamjob_planners.auto.features import features
from streamjob_planners.model import Clock, LoadModel, Plan, Planner, PlanParams


class AutoPlanner:
    """Asks the planner that fits the model; `PlanParams.before` is the memory of its choice."""

    name = "auto"

    def __init__(self, settings: AlbicSettings | None = None) -> None:
        asked = {USUAL, *(rule.planner for rule in RULES)} - {AlbicPlanner.name}
        self._planners: dict[str, Planner] = {name: registry.get(name) for name in asked}
        self._planners[AlbicPlanner.name] = AlbicPlanner(settings or AlbicSettings())

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """The plan of the chosen planner, which says who made it and why."""
        began_s = clock()
        choice = choose(features(model), params.before)
        left_s = max(params.deadline_s - (clock() - began_s), params.deadline_s / 10.0)
        asked = dataclasses.replace(params, deadline_s=left_s)
        plan = self._planners[choice.planner].solve(model, asked, rng, clock)
        return dataclasses.replace(plan, choice=choice.sentence, elapsed_s=clock() - began_s)
