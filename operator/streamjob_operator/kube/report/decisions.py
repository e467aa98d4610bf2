"""Sections of a StreamJob's status that say what was decided: the newest plan, action, cycle, and the history. Pure."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from collections.abc import Sequence

from streamjob_operator.events import told
from streamjob_operator.kube.api.times import rfc3339, seconds
from streamjob_operator.kube.models.status import (
    MOST_HISTORY,
    ApprovablePlan,
    CycleStatus,
    Decision,
    Figures,
    PlanStatus,
)
from streamjob_operator.kube.report.facts import Cycle
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.shown import approvable
from streamjob_operator.values import CycleRecord, Reason
from streamjob_planners.model import Effect

ACTED, HELD, REFUSED = "Acted", "Held", "Refused"
APPLIED, RECOMMENDED, AWAITING = "Applied", "Recommended", "AwaitingApproval"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What became of a cycle's verdict, in the end: the receipt's word counts where there is one."""

    decision: str  # Acted, Held or Refused
    reason: Reason
    message: str


def outcome_of(record: CycleRecord) -> Outcome:
    """The outcome of a cycle."""
    verdict, receipt = record.verdict, record.receipt
    if not verdict.act or receipt is None:
        return Outcome(decision=HELD, reason=verdict.reason, message=verdict.message)
    if not receipt.accepted:
        return Outcome(decision=REFUSED, reason=receipt.reason, message=receipt.message)
    return Outcome(decision=ACTED, reason=verdict.reason, message=verdict.message)


def cycle_of(cycle: Cycle) -> CycleStatus:
    """The newest cycle."""
    outcome = outcome_of(cycle.record)
    return CycleStatus(
        id=cycle.id,
        at=rfc3339(cycle.record.at_s),
        seconds=round(cycle.seconds, 3),
        reason=outcome.reason.value,
        message=outcome.message,
        woken_by=told(cycle.record.woken) or None,
    )


def decision_of(record: CycleRecord) -> Decision:
    """The cycle's decision as the history keeps it."""
    outcome, plan = outcome_of(record), record.verdict.plan
    return Decision(
        at=rfc3339(record.at_s),
        decision=outcome.decision,
        reason=outcome.reason.value,
        message=outcome.message,
        moves=record.verdict.n_moves if plan is not None and outcome.decision != HELD else None,
    )


def history_of(before: Sequence[Decision], newest: Decision) -> tuple[Decision, ...]:
    """The history with the newest decision: one of doing nothing, taken again and again, is counted."""
    last = before[-1] if before else None
    if last is not None and newest.decision != ACTED and _same(last, newest):
        again = newest.model_copy(update={"at": last.at, "count": (last.count or 1) + 1})
        return (*before[:-1], again)
    return (*before, newest)[-MOST_HISTORY:]


def _same(one: Decision, other: Decision) -> bool:
    return (one.decision, one.reason) == (other.decision, other.reason)


def plan_of(before: PlanStatus | None, record: CycleRecord) -> PlanStatus | None:
    """The newest plan that was more than a thought; of an applied one, later, what came of it."""
    plan, outcome = record.verdict.plan, outcome_of(record)
    decision = _fate(outcome)
    if plan is None or decision is None:
        return _observed(before, record)
    return PlanStatus(
        hash=_hash(record),
        computed_at=rfc3339(record.at_s),
        decision=decision,
        reason=outcome.reason.value,
        message=outcome.message,
        planner=plan.planner,
        moves=record.verdict.n_moves,
        predicted=_figures(record.outlook or plan.after, record),
    )


def approvable_of(record: CycleRecord, job: StreamJob) -> tuple[ApprovablePlan, ...]:
    """Plans that may be approved after this cycle."""
    if record.memory is None:
        return ()
    within_s = job.spec.balancing.approvable_for_s
    return tuple(
        ApprovablePlan(
            hash=one.plan_hash,
            computed_at=rfc3339(one.made_at_s),
            executors=one.executors_wanted,
            moves=len(one.moves),
            until=None if one.replaced_at_s is None else rfc3339(one.replaced_at_s + within_s),
        )
        for one in approvable(record.memory, job, record.at_s)
    )


def _fate(outcome: Outcome) -> str | None:
    if outcome.decision == ACTED:
        return APPLIED
    if outcome.decision == REFUSED:
        return REFUSED
    return {Reason.RECOMMENDED: RECOMMENDED, Reason.AWAITING_APPROVAL: AWAITING}.get(outcome.reason)


def _observed(before: PlanStatus | None, record: CycleRecord) -> PlanStatus | None:
    """The first measurement whose whole window lies after the plan's moves."""
    snapshot, plan = record.snapshot, record.verdict.plan
    if before is None or before.decision != APPLIED or before.observed is not None or before.computed_at is None:
        return before
    if snapshot is None or plan is None or snapshot.moves_pending:
        return before
    if snapshot.taken_at_s - snapshot.window_s < seconds(before.computed_at):
        return before
    return before.model_copy(update={"observed": _figures(plan.before, record)})


def _figures(effect: Effect, record: CycleRecord) -> Figures:
    wanted = None if record.memory is None else record.memory.executors_target
    if record.verdict.reason is Reason.RECOMMENDED and record.scaling is not None:
        wanted = record.scaling.target
    factor = effect.collocation_factor
    batch_s = effect.expected_s
    return Figures(
        batch_seconds=None if batch_s is None else round(batch_s, 2),
        distance=round(effect.load_distance, 2),
        collocation=None if factor is None else round(factor, 2),
        mean=round(effect.mean, 2),
        executors=wanted,
    )


def _hash(record: CycleRecord) -> str:
    """The hash a person approves, or one of the same facts for a plan that needed no approval."""
    if record.verdict.pending is not None:
        return record.verdict.pending.plan_hash
    verdict, model = record.verdict, record.model
    moves = (
        []
        if verdict.plan is None or model is None
        else [(str(model.group_ids[one.group]), model.node_ids[one.target]) for one in verdict.plan.moves]
    )
    facts = [record.at_s, moves, verdict.executors_target, verdict.marked_for_removal]
    return hashlib.sha256(json.dumps(facts).encode()).hexdigest()[:12]
