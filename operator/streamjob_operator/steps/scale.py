"""From a rule's wish to a target: bounds, windows, a drain in progress, executors that do not come."""

from __future__ import annotations

import dataclasses

from streamjob_operator.counting import executors
from streamjob_operator.ports import Quota
from streamjob_operator.scaling.quota import Allowance
from streamjob_operator.scaling.rule import Fleet, ScalingRule, Situation, Wish, clamp
from streamjob_operator.spec import Denied, Mode, StreamJob
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps.outages import quiet
from streamjob_operator.steps.windows import denying
from streamjob_operator.values import Memory, Reason, RuleState, ScalingDecision, Snapshot


def fleet(snapshot: Snapshot, memory: Memory) -> Fleet:
    """The executors there are and those wanted, after `recall`."""
    ready = sum(1 for one in snapshot.executors if one.state == "ready" and one.executor_id not in memory.marked)
    wanted = ready if memory.executors_target is None else memory.executors_target
    return Fleet(ready=ready, wanted=wanted, marked=len(memory.marked))


def ask(rule: ScalingRule, situation: Situation) -> tuple[Wish, RuleState | None]:
    """The rule's wish and its state, which is None again once somebody else has set the number.

    A rule is handed its own state alone: one that takes over from another begins anew.
    """
    told, before = situation.job.spec.executors.replicas, situation.memory.scaling
    if told is not None:
        return _told(told, situation.job), None
    state = None if before is None or before.rule != rule.name else before.state
    wish, state = rule.decide(situation, state)
    return wish, RuleState(rule=rule.name, state=state)


def allowed(needed: int, fleet: Fleet, job: StreamJob, quota: Quota | None) -> Allowance | None:
    """How many executors the job may have of those that it shares with others; None where it may have what it needs."""
    if quota is None or _off(job):
        return None
    follows = job.spec.executors.replicas is not None or job.spec.scaling.mode is Mode.AUTO
    holds = max(fleet.ready, fleet.wanted) + fleet.marked
    found = quota.allow(job.spec.executors.min, needed, holds, follows=follows)
    return None if found is None or found.executors >= needed else found


def decide(
    wish: Wish, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float, quota: Quota | None = None
) -> ScalingDecision:
    """The target and the reason for it; the target is `fleet.wanted` when nothing shall change."""
    told = job.spec.executors.replicas is not None
    target, reason, message = _target(wish, fleet, memory, job, now_s, quota)
    if told and reason is Reason.BALANCED:
        reason = Reason.REPLICAS_SET
    return ScalingDecision(
        needed=wish.needed, target=target, reason=reason, message=message, told=told, more_groups=wish.more_groups
    )


def _told(replicas: int, job: StreamJob) -> Wish:
    """What somebody else wants, within the job's bounds; no rule of ours has a say."""
    executors = clamp(replicas, job)
    bounds = "" if executors == replicas else f", and {executors} is what min and max allow"
    return Wish(executors=executors, needed=executors, why=f"spec.executors.replicas is {replicas}{bounds}")


Answer = tuple[int, Reason, str]


def _target(wish: Wish, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float, quota: Quota | None) -> Answer:
    if _off(job):
        return fleet.wanted, Reason.MODE_OFF, "Scaling is off."
    needed = clamp(wish.executors, job)
    if needed > wish.executors:
        wish = dataclasses.replace(wish, why=f"{wish.why}; executors.min is {needed}")
    allowance = allowed(needed, fleet, job, quota)
    if memory.acted_here and overdue(fleet, memory, job, now_s):
        return _retreat(fleet, job)
    if allowance is not None:
        wish = dataclasses.replace(wish, why=f"{wish.why}; {needed} are needed, but {allowance.sentence}")
        needed = allowance.executors
    if needed > fleet.wanted:
        return _grow(needed, wish, fleet, memory, job, now_s)
    if fleet.ready < fleet.wanted:
        message = f"{fleet.ready} of {executors(fleet.wanted, 'is', 'are')} ready."
        return fleet.wanted, Reason.WAITING_FOR_EXECUTORS, message
    surplus = fleet.ready > fleet.wanted and not fleet.marked and clamp(wish.needed, job) <= fleet.wanted
    if surplus or needed < fleet.wanted:
        return _fewer(needed, wish, fleet, memory, job, now_s)
    return _stay(wish, fleet, job, bound=allowance is not None)


def _off(job: StreamJob) -> bool:
    """Whether nobody says how many executors there shall be."""
    return job.spec.scaling.mode is Mode.OFF and job.spec.executors.replicas is None


def _fewer(down: int, wish: Wish, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> Answer:
    stays = None if job.spec.executors.replicas is not None else quiet(memory, now_s)
    if stays is not None:
        return fleet.wanted, Reason.STABILIZING, f"{executors(min(down, fleet.wanted))} would do ({wish.why}); {stays}."
    if fleet.marked:
        return (
            fleet.wanted,
            Reason.DRAINING,
            f"{executors(fleet.marked, 'is', 'are')} being drained; no other is marked before.",
        )
    surplus = fleet.ready > fleet.wanted
    window = denying(job.spec.scaling.windows, Denied.SCALE_DOWN, now_s)
    if window is not None:
        return fleet.wanted, Reason.WINDOW_DENIES, _denied(fleet.wanted if surplus else down, window.cron)
    if surplus:
        return fleet.wanted, Reason.SCALE_IN, f"{executors(fleet.ready, 'is', 'are')} there, {fleet.wanted} wanted."
    return down, Reason.SCALE_IN, f"{executors(down)} in place of {fleet.wanted}: {wish.why}."


def _stay(wish: Wish, fleet: Fleet, job: StreamJob, *, bound: bool) -> Answer:
    if bound:
        return fleet.wanted, Reason.QUOTA_BINDS, f"{executors(fleet.wanted, 'stays', 'stay')}: {wish.why}."
    needed = clamp(wish.needed, job)
    if needed == fleet.wanted and (wish.needed > needed or not wish.enough):
        return fleet.wanted, Reason.NOT_ENOUGH, _not_enough(wish, fleet, job)
    if needed == fleet.wanted:
        return fleet.wanted, Reason.BALANCED, f"{executors(fleet.wanted, 'fits', 'fit')}: {wish.why}."
    return fleet.wanted, Reason.STABILIZING, f"{executors(needed)} would do ({wish.why}); {wish.held}."


def _not_enough(wish: Wish, fleet: Fleet, job: StreamJob) -> str:
    most, more = job.spec.executors.max, ""
    if wish.needed > most:
        more = f"; {wish.needed} are needed, and executors.max is {most}"
    elif fleet.wanted == most:
        more = f"; executors.max is {most}"
    return f"{executors(fleet.wanted, 'stays', 'stay')}: {wish.why}{more}."


def overdue(fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> bool:
    """Whether executors have been missing for longer than they are waited for."""
    since_s = memory.target_since_s
    return fleet.ready < fleet.wanted and since_s is not None and now_s - since_s > job.spec.scaling.executor_timeout_s


def _retreat(fleet: Fleet, job: StreamJob) -> Answer:
    timeout = format_duration(job.spec.scaling.executor_timeout_s)
    message = f"{executors(fleet.wanted - fleet.ready)} did not come within {timeout}; going on with what is there."
    return max(fleet.ready, job.spec.executors.min), Reason.EXECUTORS_TIMED_OUT, message


def _grow(up: int, wish: Wish, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> Answer:
    if memory.retreat_until_s is not None and now_s < memory.retreat_until_s:
        left = format_duration(round(memory.retreat_until_s - now_s))
        message = f"{executors(up, 'is', 'are')} needed, but the last ones did not come; trying again in {left}."
        return fleet.wanted, Reason.EXECUTORS_TIMED_OUT, message
    window = denying(job.spec.scaling.windows, Denied.SCALE_UP, now_s)
    if window is not None and fleet.wanted >= job.spec.executors.min:
        return fleet.wanted, Reason.WINDOW_DENIES, _denied(up, window.cron)
    return up, Reason.SCALE_OUT, f"{executors(up)} in place of {fleet.wanted}: {wish.why}."


def _denied(target: int, cron: str) -> str:
    return f"{executors(target)} would fit, but the window '{cron}' forbids the change."
