"""Carry the verdict out."""

from __future__ import annotations

from streamjob_operator.ports import Actuator, Stale, Unavailable
from streamjob_operator.values import Memory, Reason, Receipt, Snapshot, Verdict


def actuate(actuator: Actuator, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt | None:
    """The receipt; None when there was nothing to carry out."""
    if not verdict.act:
        return None
    try:
        return actuator.actuate(snapshot, verdict, memory)
    except Unavailable as error:
        return _refused(Reason.ACTUATOR_UNAVAILABLE, str(error))
    except Stale as error:
        return _refused(Reason.PLAN_STALE, str(error))


def _refused(reason: Reason, message: str) -> Receipt:
    return Receipt(generation=None, accepted=False, reason=reason, message=message)
