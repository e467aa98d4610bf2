"""How many executors the planned loads, batch times and state need."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from streamjob_operator.counting import executors
from streamjob_operator.observed import BATCHES_IN_LAG
from streamjob_operator.scaling.late import late_ratio
from streamjob_operator.scaling.rule import Situation
from streamjob_operator.steps.behind import CATCHES_UP
from streamjob_operator.values import QueryRates
from streamjob_planners import measures
from streamjob_planners.advice import more_groups
from streamjob_planners.advice.more_groups import MoreGroups
from streamjob_planners.advice.sentences import amount
from streamjob_planners.batch.rate import Limit, fewest_executors, largest_rate
from streamjob_planners.batch.work import Work, work_of
from streamjob_planners.model import LoadModel

HEADROOM = 0.9
"""Part of the trigger interval that a batch should take at most."""
TOLERANCE = 0.9
"""A smaller fleet must stay below this part of its limits, else a load at the border would scale in and out again."""
MAX_JUMP = 2.0
"""A rule that reads batch times asks for at most this times the executors that there are."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """Executors needed, before any bound, and why: a sentence.

    `calm` is the number with which the need would stay below the limits by TOLERANCE, at least `executors`: nothing
    smaller is worth scaling in to. `since_s`: load changed then, and only what was measured since has a say.
    `more_groups`: what might do where no number of executors does.
    """

    executors: int
    why: str
    calm: int = 0
    since_s: float | None = None
    more_groups: MoreGroups | None = None


def total_load(situation: Situation) -> float:
    """Load once the plan holds, tasks without key groups and backlog included, percent points of one executor."""
    estimate, plan, rates = situation.estimate, situation.plan, situation.snapshot.rates
    steady = float(measures.planned_load(estimate.model, plan.node_of).sum())
    growth = max(1.0, estimate.growth_ratio / speedup(situation))
    more = growth + catch_up_ratio(rates, situation.job.spec.scaling.catch_up_s)
    grown = more if estimate.seconds is None else estimate.seconds.grown(situation.snapshot.rows_per_batch, more)
    return steady * grown + estimate.other_load * more


def catch_up_ratio(rates: QueryRates, catch_up_s: float) -> float:
    """Extra work, relative to today's, that works the backlog off within catch_up_s; at most 1.

    What arrives during a batch and a half is no backlog: a lag is read at a batch's end.
    """
    if rates.waiting_rows is None or rates.input_rps <= 0:
        return 0.0
    backlog = max(0.0, rates.waiting_rows - BATCHES_IN_LAG * rates.mean_batch_s * rates.input_rps)
    return min(1.0, backlog / catch_up_s / rates.input_rps)


def speedup(situation: Situation) -> float:
    """Batch time now over batch time once the plan has been carried out, at least 1."""
    before_s, after_s = situation.plan.before.expected_s, situation.plan.after.expected_s
    return max(1.0, before_s / after_s) if before_s and after_s else 1.0


def by_load(situation: Situation) -> Need:
    """Executors whose slots are busy to the target utilisation; calm only with what rows that wait will take, too."""
    target, total = situation.job.spec.scaling.target_utilization, total_load(situation)
    lost, waiting = situation.estimate.lost_executors, total * late_ratio(situation.snapshot)
    executors = max(1, math.ceil(total / target + lost - 1e-9))
    calm = max(1, math.ceil(waiting / (TOLERANCE * target) + lost - 1e-9))
    return Need(executors=executors, calm=calm, why=f"a load of {total:.0f} points at {target:g} percent each")


def by_time(situation: Situation) -> Need:
    """Executors with which a batch takes at most HEADROOM of its trigger interval, where more executors can do that.

    While batches do fit, or shrink towards it as a backlog is worked off, what is there is enough: the estimate is then
    used to scale in only, never to scale out. While they overrun for want of slots, what is there is not too much
    either, whatever the loads say.
    """
    trigger_s, rates, model = situation.snapshot.rates.trigger_interval_s, situation.snapshot.rates, model_of(situation)
    if not trigger_s or situation.plan.after.mean <= 0:
        return Need(executors=1, why="no trigger interval")
    overruns, there = bool(rates.mean_batch_s > trigger_s), int((~model.marked).sum())
    if not situation.settled or model.batch is None:
        why = "key groups moved while batches were timed" if model.batch is not None else "batches are not predicted"
        return Need(executors=1, calm=there * overruns, why=why)
    grows = overruns and situation.estimate.growth_ratio > CATCHES_UP
    bound = math.ceil(MAX_JUMP * there) if grows else there
    executors, calm = (_fewest(situation, part * HEADROOM * trigger_s, bound) for part in (1.0, TOLERANCE))
    why = f"batches within {HEADROOM * trigger_s:.1f} s of each {trigger_s:g} s"
    if executors is None:
        found, more = _limit(situation, trigger_s, bound)
        return Need(executors=1, calm=there * overruns, why=f"{why}: {found}", more_groups=more)
    return Need(executors=executors, calm=max(calm or bound, there * overruns), why=why)


def by_memory(situation: Situation) -> Need:
    """Executors in whose memory the state fits, each with the commonest limit; 1 where nobody tells."""
    model, needs = model_of(situation), [Need(executors=1, why="no limit of memory")]
    for resource in model.resources:
        total, limit = float(resource.use.sum()), float(np.median(resource.limit[~model.marked]))
        if limit > 0:
            executors, calm = (math.ceil(total / (part * limit) - 1e-9) for part in (1.0, TOLERANCE))
            why = f"{amount(total)} of state, {amount(limit)} in each executor's memory"
            needs.append(Need(executors=executors, calm=calm, why=why))
    return max(needs, key=lambda need: need.executors)


def _fewest(situation: Situation, objective_s: float, most: int) -> int | None:
    """The fewest executors whose batches of what arrives in a trigger interval stay within the objective.

    What slow ones lack is needed on top, as far as there may be more.
    """
    trigger_s = situation.snapshot.rates.trigger_interval_s or 0.0
    fewest = fewest_executors(
        _work(situation),
        _arriving_rps(situation),
        _slots(situation),
        most=most,
        objective_s=objective_s,
        trigger_s=trigger_s,
    )
    return None if fewest is None else min(most, fewest + math.ceil(situation.estimate.lost_executors - 1e-9))


def _limit(situation: Situation, trigger_s: float, most: int) -> tuple[str, MoreGroups | None]:
    """Why not even the most executors do, and the key groups that might."""
    objective_s = HEADROOM * trigger_s
    found = largest_rate(_work(situation), most, _slots(situation), objective_s=objective_s, trigger_s=trigger_s)
    words = {
        Limit.FIXED: "planning and commits alone take most of it, which no executor shortens",
        Limit.FREE_STAGE: "stages without key groups take most of it",
        Limit.KEY_GROUP: "one key group alone is too heavy for that, whatever the number of executors",
        Limit.PARTITIONS: "every key group has a slot of its own already",
    }
    groups, short = model_of(situation).group_ids, found.times_short_of(_arriving_rps(situation))
    told = words.get(found.limit, f"{executors(most, 'is', 'are')} not enough")
    most_groups = situation.job.spec.balancing.key_groups.max
    more = more_groups.proposed(found.limit, groups, found.group, short, most_groups)
    return told + ("" if more is None else more.told()), more


def _work(situation: Situation) -> Work:
    batch = model_of(situation).batch
    if batch is None:
        raise ValueError("batch: None given, the work of a batch is needed")
    seconds = situation.estimate.seconds
    fixed_s = 0.0 if seconds is None else seconds.mean_s * seconds.fixed_ratio
    return work_of(batch, max(situation.snapshot.rows_per_batch, 1.0), fixed_s)


def _arriving_rps(situation: Situation) -> float:
    """Rows that the source brings; what works a backlog off is left out."""
    return situation.snapshot.rates.input_rps * min(1.0, situation.estimate.growth_ratio)


def _slots(situation: Situation) -> int:
    batch = model_of(situation).batch
    return 1 if batch is None else int(np.median(batch.slots[~model_of(situation).marked]))


def model_of(situation: Situation) -> LoadModel:
    """What was planned on."""
    return situation.estimate.model
