"""When measurements went missing, how far that has climbed the ladder of `scaling.failSafe`, and when it is over."""

from __future__ import annotations

import dataclasses

from streamjob_operator.outage import Outage, Rung
from streamjob_operator.spec import Mode, StreamJob
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps.observe import WARM_UP_RATIO
from streamjob_operator.values import Hold, Memory, Reason

MISSING = (Reason.METRICS_UNAVAILABLE, Reason.METRICS_STALE, Reason.METRICS_INCOMPLETE)
"""Reasons to hold that say so."""


def missing(memory: Memory, hold: Hold, job: StreamJob, now_s: float) -> Memory:
    """Of a cycle that found no measurements it may use, and held for that.

    Those that were back for less than a statistics period count as missing all the while, so that a source that comes
    and goes does not begin the ladder anew each time.
    """
    before = memory.outage or Outage(since_s=now_s, reason=hold.reason.value, base=memory.executors_target)
    since_s = min(before.since_s, now_s)  # a clock may have been set back
    rung = _rung(job, now_s - since_s)
    outage = dataclasses.replace(before, since_s=since_s, reason=hold.reason.value, rung=rung, back_since_s=None)
    return dataclasses.replace(memory, outage=outage)


def there(memory: Memory, job: StreamJob, now_s: float) -> Memory:
    """Of a cycle that found some. It is over after a statistics period of them without a hole; where executors might
    come in it, none leaves for `stabilization.down` from then on."""
    outage = memory.outage
    if outage is None:
        return memory
    since_s = now_s if outage.back_since_s is None else min(outage.back_since_s, now_s)
    if now_s - since_s < WARM_UP_RATIO * job.spec.balancing.statistics_period_s:
        return dataclasses.replace(memory, outage=dataclasses.replace(outage, back_since_s=since_s))
    quiet_s = now_s + job.spec.scaling.stabilization.quiet_s if outage.climbed else memory.quiet_until_s
    return dataclasses.replace(memory, outage=None, quiet_until_s=quiet_s)


def quiet(memory: Memory, now_s: float) -> str | None:
    """Why none may leave, in words; None where one may."""
    if memory.outage is not None and memory.outage.climbed:
        return "measurements were missing and have not been back for a whole statistics period"
    if memory.quiet_until_s is None or now_s >= memory.quiet_until_s:
        return None
    left = format_duration(round(memory.quiet_until_s - now_s))
    return f"measurements were missing for long, so none leaves for another {left}"


def _rung(job: StreamJob, lasted_s: float) -> Rung:
    """Somebody else's number and a scaling that is off have no ladder."""
    scaling = job.spec.scaling
    if job.spec.executors.replicas is not None or scaling.mode is Mode.OFF:
        return Rung.HOLD
    floor_s, out_s = scaling.fail_safe.floor_after_s, scaling.fail_safe.out_after_s
    if floor_s is not None and lasted_s >= floor_s:
        return Rung.FLOOR
    return Rung.OUT_ONLY if out_s is not None and lasted_s >= out_s else Rung.HOLD
