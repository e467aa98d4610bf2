"""Empty marked executors go at once, whatever else waits: what they cost is spent for nothing."""

from __future__ import annotations

from streamjob_operator.spec import Mode, StreamJob
from streamjob_operator.steps.recall import empty_of
from streamjob_operator.values import Hold, Memory, PendingPlan, Reason, Snapshot, Verdict

DECIDES = (Reason.PAUSED, Reason.ACTUATION_OFF, Reason.MODE_OFF)
"""Reasons to change nothing at all: a person's, or the agent's."""
_THOUGHTS = (Reason.PLANNER_FAILED, Reason.PLANNER_OVERRAN, Reason.PLANNER_STARTING)
"""Holds without which there would be a plan: the measurement they follow says well enough who is empty."""


def removal(
    memory: Memory, job: StreamJob, remove: tuple[str, ...], said: str = "", pending: PendingPlan | None = None
) -> Verdict:
    """Remove these and nothing else: moves and shares of the newest plan go on, `pending` goes on waiting."""
    leaving = set(memory.marked) - set(remove)
    target = None if memory.executors_target is None else memory.executors_target + len(leaving)
    return Verdict(
        act=True,
        reason=Reason.EXECUTOR_REMOVED,
        message=f"{gone(remove)} {said}".strip(),
        plan=None,
        executors_target=target if job.resizes else None,
        marked_for_removal=memory.marked,
        remove=remove,
        pending=pending,
        awaits=pending is not None,
    )


def despite(hold: Hold, snapshot: Snapshot | None, memory: Memory, job: StreamJob) -> Verdict | None:
    """The removal that a hold does not stop; None where nobody is empty, or where the hold leaves that unsure."""
    if snapshot is None or hold.reason not in _THOUGHTS or job.paused or not snapshot.actuation_on:
        return None
    if job.spec.balancing.mode is Mode.OFF and not job.resizes:
        return None
    remove = empty_of(memory.marked, snapshot)
    return removal(memory, job, remove, hold.message, memory.pending) if remove else None


def gone(remove: tuple[str, ...]) -> str:
    """Who is empty and leaves."""
    empty = f"Executor {remove[0]} is" if len(remove) == 1 else f"Executors {', '.join(remove)} are"
    return f"{empty} empty and leave{'s' * (len(remove) == 1)}."
