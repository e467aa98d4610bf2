"""Rounds of measuring, planning and moving on a world, with figures worked out from the world, not by the planner."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable

import numpy as np

from benchmarks import worlds
from streamjob_planners.model import LoadModel, Plan, Planner, PlanParams
from streamjob_planners.verify import verify


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Round:
    """What one round did: figures after the moves.

    `load_index` is the mean node load in percent of the first; `marked_groups` are key groups still on marked nodes.
    """

    load_distance: float
    collocation_pct: float
    load_index: float
    migrations: int
    marked_groups: int
    elapsed_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rounds:
    """All rounds."""

    rounds: tuple[Round, ...]

    def series(self, name: str) -> list[float]:
        """One figure of every round."""
        return [float(getattr(one, name)) for one in self.rounds]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run(Rounds):
    """All rounds, and the last world."""

    world: worlds.World

    def figures(self) -> Rounds:
        """Without the world."""
        return Rounds(rounds=self.rounds)


def run_rounds(
    world: worlds.World,
    planner: Planner,
    params: PlanParams,
    count: int,
    change: Callable[[worlds.World, int], worlds.World] | None = None,
    *,
    until: Callable[[Round], bool] | None = None,
    judged: bool = True,
) -> Run:
    """Plans and moves `count` times; `change` makes the world of each round. A refused plan is an error."""
    start_load, done = float(world.load().sum()), []
    for number in range(count):
        world = world if change is None else change(world, number)
        model = world.model()
        plan = planner.solve(model, params, np.random.default_rng(number), time.monotonic)
        if judged:
            _judge(model, plan, params)
        world = world.placed(plan.node_of)
        done.append(_measured(world, plan, start_load))
        if until is not None and until(done[-1]):
            break
    return Run(rounds=tuple(done), world=world)


def _judge(model: LoadModel, plan: Plan, params: PlanParams) -> None:
    violations = verify(model, plan, params)
    if violations:
        raise RuntimeError(f"{plan.planner}: " + " ".join(one.sentence for one in violations))


def _measured(world: worlds.World, plan: Plan, start_load: float) -> Round:
    return Round(
        load_distance=worlds.load_distance(world),
        collocation_pct=worlds.collocation_pct(world),
        load_index=100.0 * float(world.load().sum()) / start_load,
        migrations=len(plan.moves),
        marked_groups=int(world.marked[world.node_of].sum()),
        elapsed_s=plan.elapsed_s,
    )
