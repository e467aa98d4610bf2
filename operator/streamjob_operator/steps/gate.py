"""Whether to act: modes, pause, actuation, pending moves, gain. A hold is a verdict with a reason."""

from __future__ import annotations

import dataclasses

from streamjob_operator.spec import Denied, Mode, StreamJob
from streamjob_operator.steps import approve, speeds
from streamjob_operator.steps.boundary import allowance_s, in_waves
from streamjob_operator.steps.resize import Resized
from streamjob_operator.steps.solve import plan_params
from streamjob_operator.steps.windows import denying
from streamjob_operator.steps.worth import Worth, drains_only, worth
from streamjob_operator.steps.worth_time import newly_used
from streamjob_operator.values import Memory, PendingPlan, Reason, Snapshot, Verdict
from streamjob_planners import plans
from streamjob_planners.model import LoadModel, Objective, Plan
from streamjob_planners.verify import Violation, verify

OVERLOAD = 100.0
"""Utilisation from which an executor cannot do its work, percent points."""
_LESS_TELLING = (Reason.BALANCED, Reason.GAIN_TOO_SMALL, Reason.RECOMMENDED)
"""Reasons to move nothing beside which a recommendation of other executors must be told."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """All that the gate judges. `remove` are marked executors that hold nothing any more, `kept_back` says what memory
    keeps from moving."""

    job: StreamJob
    snapshot: Snapshot
    memory: Memory
    resized: Resized
    remove: tuple[str, ...]
    violations: tuple[Violation, ...]
    now_s: float
    kept_back: str | None = None

    @property
    def resizes(self) -> bool:
        """Whether the executors wanted or marked change, as against finishing what was decided before."""
        resized, memory = self.resized, self.memory
        return resized.wanted != memory.executors_target or set(resized.marked) != set(memory.marked)

    @property
    def recommends_executors(self) -> bool:
        """Whether another number of executors is wanted that nobody may carry out."""
        decision = self.resized.decision
        return decision.reason in (Reason.SCALE_OUT, Reason.SCALE_IN) and decision.target != self.resized.wanted


def gate(case: Case) -> Verdict:
    """The verdict."""
    blocked = _blocked(case)
    if blocked is not None:
        return _hold(case, *blocked)
    plan, judged = _moves(case)
    scaled = case.resizes or bool(case.remove)
    if not judged.act and not scaled:
        return _nothing_to_do(case, judged)
    carried = plan if judged.act else plans.hold_plan(case.resized.model, planner=plan.planner)
    if _needs_approval(case, carried):
        return _ask(case, carried, judged)
    return _go(case, carried, *_why(case, judged))


def held(reason: Reason, message: str, *, plan: Plan | None = None, marked: tuple[str, ...] = ()) -> Verdict:
    """A verdict that changes nothing; `marked` are those that stay so."""
    return Verdict(
        act=False,
        reason=reason,
        message=message,
        plan=plan,
        executors_target=None,
        marked_for_removal=marked,
        remove=(),
    )


def _hold(case: Case, reason: Reason, message: str) -> Verdict:
    return held(reason, message, plan=case.resized.plan, marked=case.memory.marked)


def _blocked(case: Case) -> tuple[Reason, str] | None:
    spec, snapshot = case.job.spec, case.snapshot
    if spec.balancing.mode is Mode.OFF and spec.scaling.mode is Mode.OFF and not case.job.resizes:
        return Reason.MODE_OFF, "Balancing and scaling are off."
    if case.job.paused:
        return Reason.PAUSED, "The job is paused by its annotation streamjob.dev/pause."
    if not snapshot.actuation_on:
        return Reason.ACTUATION_OFF, f"The agent does not act: {snapshot.actuation_reason}."
    if case.violations:
        sentences = " ".join(violation.sentence for violation in case.violations)
        return Reason.PLAN_REFUSED, f"The plan broke its rules: {sentences}"
    return None


def _moves(case: Case) -> tuple[Plan, Worth]:
    """The plan as far as it may be carried out, and whether it should be."""
    model, plan, balancing = case.resized.model, case.resized.plan, case.job.spec.balancing
    window = denying(case.job.spec.scaling.windows, Denied.MOVE, case.now_s)
    if window is not None:
        return plan, Worth(act=False, reason=Reason.WINDOW_DENIES, message=f"Window '{window.cron}' forbids moves.")
    if _must_wait(case):
        message = f"{case.snapshot.moves_pending} moves of generation {case.snapshot.generation_applied} are pending."
        return plan, Worth(act=False, reason=Reason.MOVES_PENDING, message=message)
    waiting = _waiting_plan(case)
    if waiting is not None:
        return waiting, _worth(case, waiting)
    if balancing.mode in (Mode.AUTO, Mode.APPROVE):
        return plan, _worth(case, plan)
    return _only_finishing(model, plan, case)


def _worth(case: Case, plan: Plan) -> Worth:
    judged = worth(case.resized.model, plan, case.job.spec.balancing)
    if case.kept_back is not None and not judged.act:
        judged = Worth(act=False, reason=Reason.MEMORY_TOO_SMALL, message=f"{judged.message} {case.kept_back}")
    judged = dataclasses.replace(judged, message=" ".join([judged.message, *speeds.sentences(case.memory)]))
    error = case.memory.batches.error_ratio
    if case.memory.batches.trusted or error is None or case.job.spec.balancing.objective is not Objective.BATCH_TIME:
        return judged
    doubt = f"Predicted batches are off by {100 * error.mean:.0f} percent, so the load distance decides."
    return dataclasses.replace(judged, message=f"{judged.message} {doubt}")


def _only_finishing(model: LoadModel, plan: Plan, case: Case) -> tuple[Plan, Worth]:
    """Balancing is off or only recommends: key groups leave marked executors, nothing else moves."""
    balancing = case.job.spec.balancing
    drains = drains_only(model, plan)
    judged = _worth(case, drains)
    if judged.act and judged.reason is Reason.DRAINING:
        return drains, judged
    judged = _worth(case, plan)
    if not judged.act:
        return plan, judged
    if balancing.mode is Mode.OFF:
        return plan, Worth(act=False, reason=Reason.MODE_OFF, message="Balancing is off.")
    return plan, Worth(act=False, reason=Reason.RECOMMENDED, message=f"Recommended: {judged.message}")


def _must_wait(case: Case) -> bool:
    """Moves of the last generation are under way, and nothing is so urgent that they should be replaced: an executor
    that cannot do its work, or one that has come and has none."""
    plan, model = case.resized.plan, case.resized.model
    urgent = plan.before.max_load >= OVERLOAD or bool(newly_used(model, plan))
    return case.snapshot.moves_pending > 0 and not case.resizes and not urgent


def _waiting_plan(case: Case) -> Plan | None:
    """The plan that waits for approval, while it is still possible and still wants the same executors."""
    pending, resized = case.memory.pending, case.resized
    if pending is None or not _same_ends(pending, case):
        return None
    plan = approve.revive(pending, resized.model, resized.plan.planner)
    return None if plan is None or verify(resized.model, plan, plan_params(case.job)) else plan


def _same_ends(pending: PendingPlan, case: Case) -> bool:
    same_driver = pending.application_id == case.snapshot.application_id
    same_executors = (pending.executors_wanted, set(pending.marked)) == (case.resized.wanted, set(case.resized.marked))
    return same_driver and same_executors


def _needs_approval(case: Case, plan: Plan) -> bool:
    spec = case.job.spec
    if spec.scaling.mode is Mode.APPROVE and case.resizes and not case.resized.decision.told:
        return True
    marked = case.resized.model.marked
    return spec.balancing.mode is Mode.APPROVE and any(not marked[move.source] for move in plan.moves)


def _ask(case: Case, plan: Plan, judged: Worth) -> Verdict:
    pending, waiting = approve.pend(plan, case.snapshot, case.memory, case.resized), case.memory.pending
    if waiting is not None and _same_ends(waiting, case) and waiting.moves == pending.moves:
        pending = waiting
    reason, message = _why(case, judged)
    if case.job.approved_plan == pending.plan_hash:
        return dataclasses.replace(_go(case, plan, reason, f"Approved. {message}"), pending=pending)
    told = f"Plan {pending.plan_hash} waits for approval: {message}{_other_approval(case)}"
    return dataclasses.replace(_go(case, plan, Reason.AWAITING_APPROVAL, told), act=False, pending=pending)


def _other_approval(case: Case) -> str:
    """Somebody who approved a plan that was replaced in the meantime, or mistyped its hash, must hear of it."""
    approved = case.job.approved_plan
    if approved is None or approved == case.memory.approved_plan:
        return ""
    return f" The annotation streamjob.dev/approve names {approved}, which is another plan."


def _go(case: Case, plan: Plan, reason: Reason, message: str) -> Verdict:
    leaving, budget = set(case.resized.marked) - set(case.remove), case.job.spec.balancing.migration_budget
    plan, costs_s = in_waves(case.resized.model, plan, budget)
    return Verdict(
        act=True,
        reason=reason,
        message=message,
        plan=plan,
        executors_target=case.resized.wanted + len(leaving) if case.job.resizes else None,
        marked_for_removal=case.resized.marked,
        remove=case.remove,
        boundary_s=allowance_s(budget, plan.before.expected_s or case.snapshot.rates.mean_batch_s),
        move_cost_s=costs_s,
    )


def _why(case: Case, judged: Worth) -> tuple[Reason, str]:
    decision = case.resized.decision
    if case.resizes:
        return decision.reason, decision.message
    if judged.act:
        return judged.reason, judged.message
    empty = f"Executor {case.remove[0]} is" if len(case.remove) == 1 else f"Executors {', '.join(case.remove)} are"
    return Reason.EXECUTOR_REMOVED, f"{empty} empty and leave{'s' * (len(case.remove) == 1)}."


def _nothing_to_do(case: Case, judged: Worth) -> Verdict:
    """The more telling of two reasons for doing nothing."""
    decision = case.resized.decision
    if case.recommends_executors and judged.reason in _LESS_TELLING:
        return _recommend(case, judged)
    if judged.reason is Reason.BALANCED and decision.reason is not Reason.MODE_OFF:
        return _hold(case, decision.reason, f"{decision.message} {judged.message}")
    return _hold(case, judged.reason, judged.message)


def _recommend(case: Case, judged: Worth) -> Verdict:
    """Scaling only recommends: other executors, and the moves if those are recommended, too."""
    resized, moves = case.resized, judged.reason is Reason.RECOMMENDED
    message = f"{judged.message} {resized.decision.message}" if moves else f"Recommended: {resized.decision.message}"
    plan = resized.plan if moves else plans.hold_plan(resized.model, planner=resized.plan.planner)
    return held(Reason.RECOMMENDED, message, plan=plan, marked=case.memory.marked)
