"""From a need to a target: bounds, stabilisation, windows, a drain in progress, executors that do not come."""

from __future__ import annotations

import dataclasses

from streamjob_operator.spec import Denied, Mode, StreamJob
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps.need import Need
from streamjob_operator.steps.windows import denying
from streamjob_operator.values import Memory, Reason, Recommendation, ScalingDecision, Snapshot

HOLE_PERIODS = 1.5
"""Statistics periods without a recommendation from which cycles were missing: down, or without measurements."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fleet:
    """Executors: `ready` unmarked ones that exist, `wanted` unmarked ones, `marked` ones being drained."""

    ready: int
    wanted: int
    marked: int


def fleet(snapshot: Snapshot, memory: Memory) -> Fleet:
    """The executors there are and those wanted, after `recall`."""
    ready = sum(1 for one in snapshot.executors if one.state == "ready" and one.executor_id not in memory.marked)
    wanted = ready if memory.executors_target is None else memory.executors_target
    return Fleet(ready=ready, wanted=wanted, marked=len(memory.marked))


def decide(need: Need, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> ScalingDecision:
    """The target and the reason for it; the target is `fleet.wanted` when nothing shall change."""
    told = job.spec.executors.replicas
    need = within_tolerance(need, fleet) if told is None else _told(told, job)
    target, reason, message = _target(need, fleet, memory, job, now_s)
    if told is not None and reason is Reason.BALANCED:
        reason = Reason.REPLICAS_SET
    return ScalingDecision(
        needed=need.executors,
        target=target,
        reason=reason,
        message=message,
        told=told is not None,
        since_s=need.since_s,
    )


def _told(replicas: int, job: StreamJob) -> Need:
    """What somebody else wants, within the job's bounds; no rule of ours has a say."""
    executors = clamp(replicas, job)
    bounds = "" if executors == replicas else f", and {executors} is what min and max allow"
    return Need(executors=executors, why=f"spec.executors.replicas is {replicas}{bounds}", calm=executors)


def within_tolerance(need: Need, fleet: Fleet) -> Need:
    """A need below what is wanted now is raised to one that is calm, at most to what is wanted."""
    return dataclasses.replace(need, executors=max(need.executors, min(need.calm, fleet.wanted)))


def clamp(executors: int, job: StreamJob) -> int:
    """Within the job's bounds."""
    return min(max(executors, job.spec.executors.min), job.spec.executors.max)


def recommend(
    memory: Memory, needed: int, job: StreamJob, now_s: float, since_s: float | None = None
) -> tuple[Recommendation, ...]:
    """Earlier recommendations and this one; of those older than the longest window only the newest is kept."""
    window_s = max(job.spec.scaling.stabilization.up_s, job.spec.scaling.stabilization.down_s)
    every = (*memory.recommendations, Recommendation(at_s=now_s, executors=clamp(needed, job), since_s=since_s))
    older = [one for one in every if one.at_s <= now_s - window_s and one is not every[-1]]
    return (*older[-1:], *(one for one in every if one.at_s > now_s - window_s or one is every[-1]))


Answer = tuple[int, Reason, str]


def _target(need: Need, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> Answer:
    told = job.spec.executors.replicas is not None
    if job.spec.scaling.mode is Mode.OFF and not told:
        return fleet.wanted, Reason.MODE_OFF, "Scaling is off."
    if _overdue(fleet, memory, job, now_s):
        return _retreat(fleet, job)
    history = recommend(memory, need.executors, job, now_s, need.since_s)
    up, down = (need.executors,) * 2 if told else _stabilised(history, fleet.wanted, job, now_s)
    if up > fleet.wanted:
        return _grow(up, need, fleet, memory, job, now_s)
    if fleet.ready < fleet.wanted:
        message = f"{fleet.ready} of {fleet.wanted} executors are ready."
        return fleet.wanted, Reason.WAITING_FOR_EXECUTORS, message
    if fleet.ready > fleet.wanted and not fleet.marked:
        return fleet.wanted, Reason.SCALE_IN, f"{fleet.ready} executors are there, {fleet.wanted} are wanted."
    return _shrink(down, need, fleet, job, now_s) if down < fleet.wanted else _stay(need, fleet, job)


def _stay(need: Need, fleet: Fleet, job: StreamJob) -> Answer:
    recommended, stabilization = clamp(need.executors, job), job.spec.scaling.stabilization
    if recommended == fleet.wanted:
        return fleet.wanted, Reason.BALANCED, f"{fleet.wanted} executors fit: {need.why}."
    kept = format_duration(stabilization.up_s if recommended > fleet.wanted else stabilization.down_s)
    message = f"{recommended} executors would do ({need.why}); waiting until that has held {kept}."
    return fleet.wanted, Reason.STABILIZING, message


def _stabilised(history: tuple[Recommendation, ...], wanted: int, job: StreamJob, now_s: float) -> tuple[int, int]:
    """Smallest recommendation of the window upwards, largest of the window downwards.

    Until the history covers a window, what is there now counts as a recommendation of that time; what was measured
    since a change of load covers no time before it.
    """
    stabilization = job.spec.scaling.stabilization
    now = clamp(wanted, job)
    hole_s = HOLE_PERIODS * job.spec.balancing.statistics_period_s

    def window(length_s: float) -> list[int]:
        recent = [one for one in history if one.at_s > now_s - length_s] or [history[-1]]
        wishes = [one.executors for one in recent]
        before = [one.executors for one in history if one.at_s <= now_s - length_s][-1:]
        part = recent[0].since_s is not None and recent[0].since_s > now_s - length_s
        if length_s == 0 or (before and not part and recent[0].at_s <= now_s - length_s + hole_s):
            return wishes
        # Nothing was measured when the window began: what was wished, or there, before that time counts on.
        return [*wishes, *(before or [now])]

    return min(window(stabilization.up_s)), max(window(stabilization.down_s))


def _overdue(fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> bool:
    since_s = memory.target_since_s
    return fleet.ready < fleet.wanted and since_s is not None and now_s - since_s > job.spec.scaling.executor_timeout_s


def _retreat(fleet: Fleet, job: StreamJob) -> Answer:
    timeout = format_duration(job.spec.scaling.executor_timeout_s)
    message = f"{fleet.wanted - fleet.ready} executors did not come within {timeout}; going on with what is there."
    return max(fleet.ready, job.spec.executors.min), Reason.EXECUTORS_TIMED_OUT, message


def _grow(up: int, need: Need, fleet: Fleet, memory: Memory, job: StreamJob, now_s: float) -> Answer:
    if memory.retreat_until_s is not None and now_s < memory.retreat_until_s:
        left = format_duration(round(memory.retreat_until_s - now_s))
        message = f"{up} executors are needed, but the last ones did not come; trying again in {left}."
        return fleet.wanted, Reason.EXECUTORS_TIMED_OUT, message
    window = denying(job.spec.scaling.windows, Denied.SCALE_UP, now_s)
    if window is not None and fleet.wanted >= job.spec.executors.min:
        return fleet.wanted, Reason.WINDOW_DENIES, _denied(up, window.cron)
    return up, Reason.SCALE_OUT, f"{up} executors in place of {fleet.wanted}: {need.why}."


def _shrink(down: int, need: Need, fleet: Fleet, job: StreamJob, now_s: float) -> Answer:
    if fleet.marked:
        return fleet.wanted, Reason.DRAINING, f"{fleet.marked} executors are being drained; no other is marked before."
    window = denying(job.spec.scaling.windows, Denied.SCALE_DOWN, now_s)
    if window is not None:
        return fleet.wanted, Reason.WINDOW_DENIES, _denied(down, window.cron)
    return down, Reason.SCALE_IN, f"{down} executors in place of {fleet.wanted}: {need.why}."


def _denied(target: int, cron: str) -> str:
    return f"{target} executors would fit, but the window '{cron}' forbids the change."
