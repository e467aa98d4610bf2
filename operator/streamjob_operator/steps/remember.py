"""What the next cycle needs to know."""

from __future__ import annotations

import dataclasses

from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.estimate import lag_growth_rps
from streamjob_operator.steps.learn import MOST_MOVED
from streamjob_operator.steps.shown import replaced
from streamjob_operator.values import (
    Known,
    Lag,
    Memory,
    PendingPlan,
    Reason,
    Receipt,
    RuleState,
    ScalingDecision,
    Snapshot,
    Verdict,
)
from streamjob_planners.model import LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Happened:
    """What one cycle saw, thought and did; None where it did not come so far. `rule`: what the scaling rule keeps."""

    snapshot: Snapshot | None
    model: LoadModel | None
    scaling: ScalingDecision | None
    rule: RuleState | None
    verdict: Verdict
    receipt: Receipt | None


def remember(memory: Memory, happened: Happened, job: StreamJob, now_s: float) -> Memory:
    """The new memory."""
    memory = _counted(memory, happened)
    if happened.snapshot is not None:
        memory = dataclasses.replace(memory, lag=_lag(memory, happened.snapshot))
    if happened.scaling is not None and happened.snapshot is not None:
        memory = dataclasses.replace(memory, known=_known(happened.scaling, happened.snapshot))
    if happened.scaling is not None:
        memory = _scaling(memory, happened.scaling, happened.rule, job, now_s)
    pending = _pending(memory, happened)
    memory = dataclasses.replace(memory, pending=pending, shown=replaced(memory, pending, now_s))
    if happened.receipt is not None and happened.receipt.accepted:
        moved = memory.moved if happened.verdict.plan is None else _moved(happened)
        memory = _accepted(memory, happened.verdict, happened.receipt, now_s)
        memory = dataclasses.replace(_promised(memory, happened), moved=moved)
    return memory


def _known(decision: ScalingDecision, snapshot: Snapshot) -> Known:
    sizes, batch_s = snapshot.state_bytes, snapshot.rates.mean_batch_s or snapshot.rates.last_batch_s
    return Known(needed=decision.needed, batch_s=batch_s, state_bytes=float(sizes.mean()) if sizes.size else 0.0)


def _lag(memory: Memory, snapshot: Snapshot) -> Lag | None:
    rows = snapshot.rates.waiting_rows
    growth_rps = lag_growth_rps(snapshot, memory.lag)
    return None if rows is None else Lag(at_s=snapshot.taken_at_s, rows=rows, growth_rps=growth_rps)


def _counted(memory: Memory, happened: Happened) -> Memory:
    receipt = happened.receipt
    reason = happened.verdict.reason if receipt is None or receipt.accepted else receipt.reason
    counters = {**memory.counters, reason.value: memory.counters.get(reason.value, 0) + 1}
    return dataclasses.replace(memory, counters=counters)


def _scaling(memory: Memory, decision: ScalingDecision, rule: RuleState | None, job: StreamJob, now_s: float) -> Memory:
    fewer = decision.target != memory.executors_target and job.resizes
    retreats = decision.reason is Reason.EXECUTORS_TIMED_OUT and fewer
    until_s = now_s + job.spec.scaling.executor_timeout_s if retreats else memory.retreat_until_s
    return dataclasses.replace(memory, scaling=rule, retreat_until_s=until_s)


def _pending(memory: Memory, happened: Happened) -> PendingPlan | None:
    """The plan that waits for approval; a cycle that could not measure says nothing about it."""
    if happened.model is None:
        return memory.pending
    return happened.verdict.pending


def wanted_of(verdict: Verdict) -> int:
    """Unmarked executors that an acting verdict wants."""
    leaving = set(verdict.marked_for_removal) - set(verdict.remove)
    return (verdict.executors_target or 0) - len(leaving)


def _moved(happened: Happened) -> tuple[str, ...] | None:
    """Key groups of the plan that was accepted; None when they are too many to keep, or nothing measured them."""
    plan, model = happened.verdict.plan, happened.model
    if plan is None or model is None:
        return () if plan is None else None
    arrivals = happened.verdict.arrivals
    rows = (*(move.group for move in plan.moves), *(() if arrivals is None else arrivals.groups))
    if len(rows) > MOST_MOVED:
        return None
    groups = (model.group_ids[row] for row in rows)
    return tuple(f"{group.operator}/{group.partition}" for group in groups)


def _accepted(memory: Memory, verdict: Verdict, receipt: Receipt, now_s: float) -> Memory:
    wanted = memory.executors_target if verdict.executors_target is None else wanted_of(verdict)
    more = wanted is not None and memory.executors_target is not None and wanted > memory.executors_target
    first = memory.target_since_s is not None and not memory.acted_here and verdict.executors_target is not None
    return dataclasses.replace(
        memory,
        generation=memory.generation if receipt.generation is None else receipt.generation,
        executors_target=wanted,
        target_since_s=now_s if more or first else memory.target_since_s,
        marked=verdict.marked_for_removal,
        acted_at_s=now_s,
        arrivals=_arrivals(memory, verdict),
        filling=memory.filling and verdict.plan is None,
        approved_plan=memory.approved_plan if verdict.pending is None or verdict.awaits else verdict.pending.plan_hash,
        pending=verdict.pending if verdict.awaits else None,
        shown=memory.shown if verdict.awaits else (),
    )


def _promised(memory: Memory, happened: Happened) -> Memory:
    """With what the accepted plan promised; one that nothing was measured for promises nothing."""
    plan = happened.verdict.plan
    if plan is None:
        return memory
    after = None if happened.model is None else plan.after
    return dataclasses.replace(
        memory,
        predicted_distance=None if after is None else after.load_distance,
        predicted_batch_s=None if after is None else after.expected_s,
    )


def _arrivals(memory: Memory, verdict: Verdict) -> int:
    """Executors to come that have a share from now on; without a plan those of the newest one go on."""
    if verdict.plan is None:
        return memory.arrivals
    return 0 if verdict.arrivals is None else verdict.arrivals.executors
