"""What is done without measurements, after `scaling.failSafe`: executors may come, none leaves.

Nothing measured is looked at but what was known when measurements ended; what else can be seen is the agent's status.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator

from streamjob_operator.counting import executors
from streamjob_operator.outage import Outage, Rung
from streamjob_operator.ports import Quota
from streamjob_operator.sight import Longer, Sight
from streamjob_operator.spec import Denied, Mode, StreamJob
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps.blind_share import BlindShare, blind_share
from streamjob_operator.steps.recall import recall_unmeasured
from streamjob_operator.steps.scale import allowed, fleet
from streamjob_operator.steps.windows import denying
from streamjob_operator.values import Hold, Memory, Reason, Snapshot, Verdict

MOST_LONGER = 2.0
"""Batches that take longer than this many times what is usual ask for no more: how much more is unknown."""
REASONS = {Rung.OUT_ONLY: Reason.FAIL_SAFE_OUT, Rung.FLOOR: Reason.FAIL_SAFE_FLOOR}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Blind:
    """What a cycle without measurements came to. `snapshot` is what an acting verdict speaks of; None for a hold."""

    verdict: Verdict
    memory: Memory
    snapshot: Snapshot | None = None


def fail_safe(
    hold: Hold, sight: Sight | None, memory: Memory, job: StreamJob, now_s: float, quota: Quota | None = None
) -> Blind:
    """The verdict of a cycle that found no measurements; `memory.outage` says for how long there have been none."""
    outage = memory.outage
    if outage is None or not outage.climbed:
        return Blind(verdict=_held(memory, hold.reason, hold.message), memory=memory)
    lasted = format_duration(round(now_s - outage.since_s))
    rung = f"Measurements have been missing for {lasted}: {_allowed(outage, job)}"
    blocked = _blocked(sight, job)
    if sight is None or blocked is not None:
        return Blind(verdict=_held(memory, hold.reason, f"{hold.message} {rung}; {blocked}."), memory=memory)
    seen = recall_unmeasured(memory, sight.snapshot, now_s)
    wish = _wish(outage, seen, sight, job, quota)
    idle = _idle(wish, seen, job, now_s)
    share = None if idle is not None else blind_share(sight, wish.marked_in(seen), wish.target, job, now_s)
    if idle is None and wish.target == wish.wanted and share is None:
        idle = f"{executors(wish.wanted, 'stays', 'stay')}, {wish.why}"
    if idle is not None:
        return Blind(verdict=_held(memory, hold.reason, f"{hold.message} {rung}; {idle}."), memory=memory)
    message = f"{rung}. {wish.sentence} {hold.message}{'' if share is None else share.sentence}"
    verdict = _acting(REASONS[outage.rung], message, wish, share)
    return Blind(verdict=verdict, memory=seen, snapshot=sight.snapshot)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Wish:
    """`target` executors in place of `wanted`, never fewer, and why; `marked` are those that go on being drained."""

    wanted: int
    target: int
    why: str
    marked: tuple[str, ...]

    @property
    def sentence(self) -> str:
        if self.target == self.wanted:
            return f"{executors(self.wanted, 'stays', 'stay')}."
        return f"{executors(self.target)} in place of {self.wanted}, {self.why}."

    def marked_in(self, memory: Memory) -> Memory:
        return dataclasses.replace(memory, marked=self.marked)


def _wish(outage: Outage, memory: Memory, sight: Sight, job: StreamJob, quota: Quota | None) -> _Wish:
    there = fleet(sight.snapshot, memory)
    wanted = there.wanted
    target, why = _target(wanted, outage, memory, sight.longer, job)
    bound = allowed(target, there, job, quota) if target > wanted else None
    if bound is not None:
        target, why = max(wanted, bound.executors), f"{why}; {target} are needed, but {bound.sentence}"
    marked = _still_marked(memory, sight.snapshot, target - wanted)
    return _Wish(wanted=wanted, target=target, why=why, marked=marked)


def _held(memory: Memory, reason: Reason, message: str) -> Verdict:
    return Verdict(
        act=False,
        reason=reason,
        message=message,
        plan=None,
        executors_target=None,
        marked_for_removal=memory.marked,
        remove=(),
    )


def _allowed(outage: Outage, job: StreamJob) -> str:
    if outage.rung is Rung.FLOOR:
        return f"executors may come, {job.spec.scaling.fail_safe.floor} at least, and none leaves"
    return "executors may come, and none leaves"


def _blocked(sight: Sight | None, job: StreamJob) -> str | None:
    """Why nothing can or may be changed."""
    if job.paused:
        return "the job is paused by its annotation streamjob.dev/pause"
    if sight is None:
        return "the agent is not heard either, so nothing can be asked for"
    if not sight.snapshot.actuation_on:
        return f"the agent does not act: {sight.snapshot.actuation_reason}"
    return None


def _idle(wish: _Wish, memory: Memory, job: StreamJob, now_s: float) -> str | None:
    """Why what is wished for is not carried out at this moment; None where it is."""
    if wish.target > wish.wanted:
        denied = _denied(memory, job, now_s)
        if denied is not None:
            return f"{executors(wish.target)} {wish.why}, but {denied}"
    if job.spec.scaling.mode is Mode.AUTO:
        return None
    if wish.target > wish.wanted:
        return f"recommended: {executors(wish.target)}, {wish.why}"
    return f"{executors(wish.wanted, 'stays', 'stay')}, {wish.why}"


def _denied(memory: Memory, job: StreamJob, now_s: float) -> str | None:
    """Why no executor may be asked for at this moment."""
    if memory.retreat_until_s is not None and now_s < memory.retreat_until_s:
        left = format_duration(round(memory.retreat_until_s - now_s))
        return f"the last ones that were asked for did not come; trying again in {left}"
    window = denying(job.spec.scaling.windows, Denied.SCALE_UP, now_s)
    return None if window is None else f"the window '{window.cron}' forbids more"


def _target(wanted: int, outage: Outage, memory: Memory, longer: Longer | None, job: StreamJob) -> tuple[int, str]:
    """Executors that there shall be, never fewer than are wanted already, and why."""
    asked = list(_asked(wanted, outage, memory, longer, job))
    most, why = max(asked, key=lambda one: one[0], default=(wanted, "as nothing that can be seen asks for more"))
    bounded = max(wanted, min(most, job.spec.executors.max))
    if bounded == wanted:
        return wanted, "as nothing that can be seen asks for more" if most <= wanted else f"the most allowed ({why})"
    return bounded, why


def _asked(
    wanted: int, outage: Outage, memory: Memory, longer: Longer | None, job: StreamJob
) -> Iterator[tuple[int, str]]:
    """All of it is counted from what was wanted when measurements ended, so that no sign counts twice."""
    base, known = wanted if outage.base is None else outage.base, memory.known
    if known is not None:
        yield known.needed, f"as {known.needed} were needed when measurements ended"
    if longer is not None and longer.ended_at_s >= outage.since_s and longer.ratio > 1.0:
        ratio = min(longer.ratio, MOST_LONGER)
        yield math.ceil(base * ratio), f"as batches take {longer.ratio:.1f} times what is usual"
    floor = job.spec.scaling.fail_safe.floor
    if outage.rung is Rung.FLOOR and floor is not None:
        yield floor, f"as failSafe.floor is {floor}"
    yield job.spec.executors.min, f"as executors.min is {job.spec.executors.min}"


def _still_marked(memory: Memory, snapshot: Snapshot, more: int) -> tuple[str, ...]:
    """Marks that stay: marked executors are taken back before others are asked for, the fullest first."""
    held = {one: snapshot.owners.count(one) for one in memory.marked}
    back = sorted(memory.marked, key=lambda one: (-held[one], one))[:more]
    return tuple(one for one in memory.marked if one not in back)


def _acting(reason: Reason, message: str, wish: _Wish, share: BlindShare | None) -> Verdict:
    """Without a share the moves and shares of the newest plan go on."""
    return Verdict(
        act=True,
        reason=reason,
        message=message,
        plan=None if share is None else share.plan,
        executors_target=wish.target + len(wish.marked),
        marked_for_removal=wish.marked,
        remove=(),
        arrivals=None if share is None else share.arrivals,
        boundary_s=None if share is None else share.boundary_s,
        boundaries_s={} if share is None else share.boundaries_s,
        move_cost_s=() if share is None else share.move_cost_s,
    )
