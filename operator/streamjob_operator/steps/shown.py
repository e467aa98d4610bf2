"""Plans that a person was shown: which of them may still be approved, and how many are kept."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Iterator

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.case import Case
from streamjob_operator.values import Memory, PendingPlan

MOST_SHOWN, MOST_MOVES = 4, 2000
"""Replaced plans that are kept, and moves of all of them together: each lies in the job's status."""


def policy_of(job: StreamJob) -> str:
    """What tells one policy from another: a plan that was shown under another one is void.

    `executors.replicas` is left out: an autoscaler of somebody else writes it again and again, and asks nobody.
    """
    spec = job.spec
    facts = [
        spec.balancing.model_dump(mode="json"),
        spec.scaling.model_dump(mode="json"),
        spec.executors.model_dump(mode="json", exclude={"replicas"}),
    ]
    return hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:12]


def replaced(memory: Memory, newest: PendingPlan | None, now_s: float) -> tuple[PendingPlan, ...]:
    """The plans that were shown before `newest`, newest first, as many as are kept."""
    before = memory.pending
    known = memory.shown if before is None else (dataclasses.replace(before, replaced_at_s=now_s), *memory.shown)
    others = (one for one in known if newest is None or one.plan_hash != newest.plan_hash)
    return tuple(_few(others))


def _few(plans: Iterator[PendingPlan]) -> Iterator[PendingPlan]:
    moves = 0
    for at, one in enumerate(plans):
        moves += len(one.moves)
        if at == MOST_SHOWN or moves > MOST_MOVES:
            return
        yield one


def approvable(memory: Memory, job: StreamJob, now_s: float) -> tuple[PendingPlan, ...]:
    """The plan that waits, and those before it that were replaced less than `approvableFor` ago; newest first."""
    waits = () if memory.pending is None else (memory.pending,)
    within_s = job.spec.balancing.approvable_for_s
    lately = (one for one in memory.shown if one.replaced_at_s is not None and now_s - one.replaced_at_s < within_s)
    return (*waits, *lately)


def void(pending: PendingPlan, case: Case) -> str | None:
    """Why the world is another than the one that the plan was shown for, None where it is not."""
    if pending.application_id != case.snapshot.application_id:
        return "another driver runs"
    if pending.policy != case.policy:
        return "the job was edited since it was shown"
    lost_at_s = case.memory.lost_at_s
    if lost_at_s is not None and lost_at_s > pending.made_at_s:
        return "an executor was lost since it was shown"
    return None
