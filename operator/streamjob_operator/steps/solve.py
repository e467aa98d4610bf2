"""Ask the planner, and live with one that fails."""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from streamjob_operator.ports import Overran, Planning, Starting
from streamjob_operator.spec import Collocation, StreamJob
from streamjob_operator.steps import worth_distance, worth_time
from streamjob_operator.values import Hold, Reason
from streamjob_planners import registry
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import Budget, Clock, LoadModel, Plan, Planner, PlanParams

OVERRUN_FACTOR, OVERRUN_EXTRA_S = 3.0, 2.0
"""A plan that took longer than this times its deadline and this many seconds more speaks of a world that is gone."""
_COLLOCATING = frozenset(("albic", "albic-paper", "albic-paper-milp", "auto"))
"""Planners that have the knobs of collocation. By name: their solvers are for the process that plans to load, and are
130 MiB that the operator's own does without."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Solver:
    """A planner with all that it needs beside the model."""

    planner: Planner
    params: PlanParams
    rng: np.random.Generator
    clock: Clock

    def solve(self, model: LoadModel) -> Plan:
        """Plan; raises Hold when the planner fails, or when those who plan for us ended it (:func:`limit_s`).

        A planner of this process has the time that it takes: it plans for a file or a simulated job, which wait for it.
        """
        try:
            return self.planner.solve(model, self.params, self.rng, self.clock)
        except Starting as starting:
            message = f"The planning process has been loading solvers and compiling loops {starting}."
            raise Hold(Reason.PLANNER_STARTING, message) from starting
        except Overran as overran:
            message = f"Planner '{self.planner.name}' had {self.params.deadline_s:g} s for a plan: {overran}."
            raise Hold(Reason.PLANNER_OVERRAN, message) from overran
        except Exception as error:  # whatever a planner does, the job goes on as it is
            message = f"Planner '{self.planner.name}' failed: {type(error).__name__}: {error}."
            raise Hold(Reason.PLANNER_FAILED, message) from error

    def without_budget(self) -> Solver:
        """The same, asked what is possible at all."""
        return dataclasses.replace(self, params=dataclasses.replace(self.params, budget=Budget()))


def limit_s(params: PlanParams) -> float:
    """Seconds after which a plan of another process is not waited for any more."""
    return OVERRUN_FACTOR * params.deadline_s + OVERRUN_EXTRA_S


def make_solver(
    job: StreamJob,
    rng: np.random.Generator,
    clock: Clock,
    planning: Planning | None = None,
    before: str | None = None,
) -> Solver:
    """The solver that the job asks for, which plans where `planning` says.

    `before` is whom a planner asked last that chooses among others, None for nobody.
    """
    balancing = job.spec.balancing
    make = in_process if planning is None else planning.planner
    planner = make(balancing.planner, albic_settings(balancing.collocation))
    return Solver(
        planner=planner,
        params=dataclasses.replace(plan_params(job), before=before),
        rng=rng,
        clock=clock,
    )


def albic_settings(collocation: Collocation) -> AlbicSettings:
    """The knobs of collocation in ALBIC's words; the other planners have none."""
    return AlbicSettings(
        score_factor=collocation.score_factor,
        max_partition_load=collocation.max_partition_load,
        partition_step=collocation.step,
    )


def plan_params(job: StreamJob) -> PlanParams:
    """The job's policy in the planners' words."""
    balancing = job.spec.balancing
    budget = balancing.migration_budget
    return PlanParams(
        budget=Budget(max_migrations=budget.max_migrations, max_state_bytes=budget.max_state_bytes),
        objective=balancing.objective,
        payback_batches=balancing.payback_batches,
        least_gain_ratio=worth_time.LEAST_GAIN,
        max_load_distance=balancing.max_load_distance,
        price_per_move=worth_distance.PRICE_PER_MOVE,
        tolerance=worth_distance.TOLERANCE,
        deadline_s=deadline_s(job),
        max_iterations=balancing.max_iterations,
    )


def deadline_s(job: StreamJob) -> float:
    """Time for one plan: as stated, or a tenth of the statistics period within 0.2 and 10 seconds."""
    stated = job.spec.balancing.plan_deadline_s
    return stated if stated is not None else min(max(job.spec.balancing.statistics_period_s / 10, 0.2), 10.0)


@functools.lru_cache(maxsize=64)  # settings are the tenants', who may think of any number
def in_process(name: str, settings: AlbicSettings) -> Planner:
    """Planners hold no state between calls, and loading a solver takes time: once per process is enough."""
    return registry.get(name, *([settings] if name in _COLLOCATING else []))
