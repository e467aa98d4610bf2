"""The first scaling rule: how many executors the planned loads need. A better one implements the same Protocol."""

from __future__ import annotations

import dataclasses
import math
from typing import Protocol

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import Estimate
from streamjob_operator.values import QueryRates, Snapshot
from streamjob_planners import measures
from streamjob_planners.model import Plan

HEADROOM = 0.9
"""Part of the trigger interval that a batch should take at most."""
TOLERANCE = 0.9
"""A smaller fleet must stay below this part of its limits, else a load at the border would scale in and out again."""
CATCHES_UP = 0.95
"""Rows that arrive over rows that are taken, up to which batches that overrun get shorter by themselves."""
MAX_JUMP = 2.0
"""A rule that reads batch times asks for at most this times the executors that there are."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Situation:
    """What a scaling rule may look at: measurements, and the loads once the plan has been carried out.

    `settled` says that the whole window lies after the last change of placement, so that its batch times are those of
    today's placement.
    """

    job: StreamJob
    snapshot: Snapshot
    estimate: Estimate
    plan: Plan
    settled: bool = True


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Executors needed, before any bound, and why: a sentence.

    `calm` is the number with which the need would stay below the limits by TOLERANCE, at least `executors`: nothing
    smaller is worth scaling in to.
    """

    executors: int
    why: str
    calm: int = 0


class ScalingRule(Protocol):
    """Says how many executors are needed; bounds, stabilisation and windows are applied by others."""

    def need(self, situation: Situation) -> Need:
        """The need; pure."""


class UtilizationRule:
    """Enough executors that their slots are busy to the target, and that a batch fits into its trigger interval."""

    def need(self, situation: Situation) -> Need:
        """The larger of the two needs."""
        needs = (by_load(situation), by_time(situation))
        largest = max(needs, key=lambda need: need.executors)
        return dataclasses.replace(largest, calm=max(need.calm for need in needs))


def total_load(situation: Situation) -> float:
    """Load once the plan holds, tasks without key groups and backlog included, percent points of one executor."""
    estimate, plan, rates = situation.estimate, situation.plan, situation.snapshot.rates
    steady = float(measures.planned_load(estimate.model, plan.node_of).sum()) + estimate.other_load
    growth = max(1.0, estimate.growth_ratio / speedup(situation))
    return steady * (growth + catch_up_ratio(rates, situation.job.spec.scaling.catch_up_s))


def catch_up_ratio(rates: QueryRates, catch_up_s: float) -> float:
    """Extra work, relative to today's, that works the backlog off within catch_up_s; at most 1.

    What arrives during a batch and a half is no backlog: a lag is read at a batch's end.
    """
    if rates.lag_rows is None or rates.input_rps <= 0:
        return 0.0
    backlog = max(0.0, rates.lag_rows - 1.5 * rates.mean_batch_s * rates.input_rps)
    return min(1.0, backlog / catch_up_s / rates.input_rps)


def busiest_s(situation: Situation, max_load: float) -> float:
    """Seconds per batch that the busiest executor's slots work, at that load in percent points."""
    snapshot = situation.snapshot
    return max_load / 100.0 * snapshot.window_s / max(snapshot.rates.batches, 1)


def fixed_s(situation: Situation) -> float:
    """Part of a batch in which not even the busiest executor works on key groups: planning, commits, other stages."""
    return max(0.0, situation.snapshot.rates.mean_batch_s - busiest_s(situation, situation.plan.before.max_load))


def unshared_s(situation: Situation, trigger_s: float) -> float:
    """The fixed part of a batch that holds one trigger interval's input.

    While batches overrun they hold more input than that, and slots wait for each other the longer the larger the tasks
    are: what was measured then shrinks with the batch, or the end of a backlog would ask for twice the executors.
    """
    return fixed_s(situation) * min(1.0, trigger_s / max(situation.snapshot.rates.mean_batch_s, 1e-9))


def speedup(situation: Situation) -> float:
    """Batch time now over batch time once the plan has been carried out, at least 1."""
    after_s = fixed_s(situation) + busiest_s(situation, situation.plan.after.max_load)
    return max(1.0, situation.snapshot.rates.mean_batch_s / after_s) if after_s > 0 else 1.0


def by_load(situation: Situation) -> Need:
    """Executors whose slots are busy to the target utilisation."""
    target, total = situation.job.spec.scaling.target_utilization, total_load(situation)
    executors, calm = (max(1, math.ceil(total / (part * target) - 1e-9)) for part in (1.0, TOLERANCE))
    return Need(executors=executors, calm=calm, why=f"a load of {total:.0f} points at {target:g} percent each")


def by_time(situation: Situation) -> Need:
    """Executors with which a batch takes at most HEADROOM of its trigger interval, where more executors can do that.

    While batches do fit, or shrink towards it as a backlog is worked off, what is there is enough: the estimate is then
    used to scale in only, never to scale out. While they overrun for want of slots, what is there is not too much
    either, whatever the loads say.
    """
    trigger_s, plan, rates = situation.snapshot.rates.trigger_interval_s, situation.plan, situation.snapshot.rates
    if not trigger_s or plan.after.mean <= 0:
        return Need(executors=1, why="no trigger interval")
    left_s = HEADROOM * trigger_s - unshared_s(situation, trigger_s)
    if left_s <= 0:
        return Need(executors=1, why=f"the fixed part of a batch alone takes {HEADROOM * trigger_s - left_s:.1f} s")
    overruns, there = rates.mean_batch_s > trigger_s, int((~situation.estimate.model.marked).sum())
    if not situation.settled:
        return Need(executors=1, calm=there * overruns, why="key groups moved while batches were timed")
    work_s = arriving_s(situation, trigger_s)
    grows = overruns and situation.estimate.growth_ratio > CATCHES_UP
    bound = math.ceil(MAX_JUMP * there) if grows else there
    executors, calm = (min(bound, max(1, math.ceil(work_s / (part * left_s) - 1e-9))) for part in (1.0, TOLERANCE))
    why = f"{work_s:.1f} s of work for each batch, {left_s:.1f} s time for it"
    return Need(executors=executors, calm=max(calm, there * overruns), why=why)


def arriving_s(situation: Situation, trigger_s: float) -> float:
    """Slot seconds, of one reference executor's slots at once, that what arrives in a trigger interval needs.

    The busiest executor counts, so an uneven plan needs more; what works a backlog off is left out.
    """
    plan = situation.plan
    unevenness = min(2.0, max(1.0, plan.after.max_load / plan.after.mean))
    total = float(measures.planned_load(situation.estimate.model, plan.node_of).sum())
    return total / 100.0 * trigger_s * unevenness * min(1.0, situation.estimate.growth_ratio)
