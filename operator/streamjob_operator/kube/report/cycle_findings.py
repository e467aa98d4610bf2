"""What one cycle of the loop says about the conditions. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from streamjob_operator.counting import executors, moves_told
from streamjob_operator.kube.api.times import rfc3339
from streamjob_operator.kube.names import Condition, KubeReason
from streamjob_operator.kube.report.conditions import Finding
from streamjob_operator.kube.report.facts import Cycle, DriverFacts
from streamjob_operator.kube.report.motion import Motion
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps import worth
from streamjob_operator.steps.batching import unpredicted
from streamjob_operator.steps.fail_safe import REASONS
from streamjob_operator.steps.outages import MISSING
from streamjob_operator.values import CycleRecord, Reason

NOT_READY = "The driver is not ready."
"""It may run: its agent does not answer yet, or it goes on while nobody takes what the spec asks for now."""


def cycle_findings(cycle: Cycle, job: StreamJob, motion: Motion) -> Iterator[Finding]:
    """MetricsAvailable, FailSafe, BatchesPredicted, Balanced, AwaitingApproval."""
    yield _metrics(cycle)
    yield _fail_safe(cycle.record)
    yield _predicted(cycle.record)
    yield _balanced(cycle.record, job, motion)
    yield _awaiting(cycle.record)


def no_cycle_findings(driver: DriverFacts) -> Iterator[Finding]:
    """What a cycle would say cannot be known while no driver runs."""
    for kind in (
        Condition.METRICS_AVAILABLE,
        Condition.FAIL_SAFE,
        Condition.BATCHES_PREDICTED,
        Condition.BALANCED,
        Condition.AWAITING_APPROVAL,
    ):
        yield Finding(type=kind, holds=None, reason=driver.reason, message=NOT_READY)


def _metrics(cycle: Cycle) -> Finding:
    verdict, trouble, kind = cycle.record.verdict, cycle.trouble, Condition.METRICS_AVAILABLE
    if trouble is not None:
        message = f"{trouble.message} Since {rfc3339(trouble.since_s)}."
        return Finding(type=kind, holds=False, reason=trouble.reason, message=message)
    if verdict.reason in MISSING:
        return Finding(type=kind, holds=False, reason=verdict.reason, message=verdict.message)
    outage = None if cycle.record.memory is None else cycle.record.memory.outage
    if verdict.reason in REASONS.values() and outage is not None:
        return Finding(type=kind, holds=False, reason=outage.reason, message=verdict.message)
    if cycle.record.model is None:
        return Finding(type=kind, holds=None, reason=verdict.reason, message=verdict.message)
    message = f"Measurements are there and fresh. {cycle.note or ''}".strip()
    return Finding(type=kind, holds=True, reason=KubeReason.METRICS_FOUND, message=message)


def _fail_safe(record: CycleRecord) -> Finding:
    """By the ladder's rung, whether or not this cycle had anything to do on it."""
    outage = None if record.memory is None else record.memory.outage
    verdict, kind = record.verdict, Condition.FAIL_SAFE
    if outage is None:
        message = "Measurements are not missing."
        return Finding(type=kind, holds=False, reason=KubeReason.NOTHING_MISSING, message=message)
    if not outage.climbed:
        message = f"The number of executors stays: measurements are missing since {rfc3339(outage.since_s)}."
        return Finding(type=kind, holds=False, reason=verdict.reason, message=message)
    if outage.back_since_s is None:
        return Finding(type=kind, holds=True, reason=REASONS[outage.rung], message=verdict.message)
    message = f"Measurements are back since {rfc3339(outage.back_since_s)}; none leaves for a statistics period."
    return Finding(type=kind, holds=True, reason=REASONS[outage.rung], message=message)


def _predicted(record: CycleRecord) -> Finding:
    batches, kind = None if record.memory is None else record.memory.batches, Condition.BATCHES_PREDICTED
    if record.snapshot is not None and record.model is not None and record.model.batch is None:
        too_large = unpredicted(record.snapshot, record.model.n_nodes)
        if too_large is not None:
            return Finding(type=kind, holds=False, reason=KubeReason.BATCHES_TOO_LARGE, message=too_large)
    if batches is None or batches.error_ratio is None:
        message = "No window of batches has been predicted and measured yet."
        return Finding(type=kind, holds=None, reason=KubeReason.PREDICTIONS_UNTRIED, message=message)
    message = f"Predicted batches are off by {100 * batches.error_ratio.mean:.0f} percent, 25 are allowed."
    reason = KubeReason.PREDICTIONS_HOLD if batches.trusted else KubeReason.PREDICTIONS_OFF
    return Finding(type=kind, holds=batches.trusted, reason=reason, message=message)


UNBALANCED = (Reason.BATCH_TIME, Reason.FILLING, Reason.LOAD_DISTANCE, Reason.DRAINING)
"""Reasons to move that say so."""


def _balanced(record: CycleRecord, job: StreamJob, motion: Motion) -> Finding:
    plan, verdict, kind = record.verdict.plan, record.verdict, Condition.BALANCED
    if plan is None:
        return Finding(type=kind, holds=None, reason=verdict.reason, message=verdict.message)
    if verdict.reason is Reason.IDLE:  # moves wait for a batch, and so does everything else
        return Finding(type=kind, holds=True, reason=verdict.reason, message=verdict.message)
    distance, allowed = plan.before.load_distance, job.spec.balancing.max_load_distance
    batch_s, model = plan.before.expected_s, record.model
    by_time = model is not None and worth.by_time(model, job.spec.balancing)
    figures = f"Batches take {batch_s:.1f} s." if by_time else f"Load distance {distance:.1f}, {allowed:g} allowed."
    waits = verdict.reason in (*UNBALANCED, Reason.RECOMMENDED, Reason.AWAITING_APPROVAL) and bool(plan.moves)
    if waits if by_time else distance > allowed:
        reason = verdict.reason if verdict.reason is not Reason.BALANCED else Reason.LOAD_DISTANCE
        return Finding(type=kind, holds=False, reason=reason, message=f"{figures} {verdict.message}")
    if motion.reason is not None:
        return Finding(type=kind, holds=False, reason=motion.reason, message=f"{figures} {motion.message}")
    if record.scaling is not None and record.scaling.reason in (Reason.SCALE_OUT, Reason.SCALE_IN):
        message = f"{figures} {record.scaling.message}"
        return Finding(type=kind, holds=False, reason=record.scaling.reason, message=message)
    return Finding(type=kind, holds=True, reason=Reason.BALANCED, message=figures)


def _awaiting(record: CycleRecord) -> Finding:
    pending = None if record.memory is None else record.memory.pending
    kind = Condition.AWAITING_APPROVAL
    if pending is None:
        message = "No plan waits for approval."
        return Finding(type=kind, holds=False, reason=KubeReason.NO_PLAN_WAITS, message=message)
    plan = f"Plan {pending.plan_hash} with {executors(pending.executors_wanted)} and {moves_told(len(pending.moves))}"
    message = f"{plan} waits for the annotation streamjob.dev/approve."
    return Finding(type=kind, holds=True, reason=Reason.AWAITING_APPROVAL, message=message)
