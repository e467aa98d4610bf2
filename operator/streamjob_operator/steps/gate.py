"""Whether to act: modes, pause, actuation, pending moves, gain. A hold is a verdict with a reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from streamjob_operator.counting import executors, moves_told
from streamjob_operator.spec import Denied, Mode
from streamjob_operator.steps import approve, leave, speeds
from streamjob_operator.steps.arrivals import prepared, sentence
from streamjob_operator.steps.batching import unpredicted
from streamjob_operator.steps.boundary import allowance_s, boundaries_s, in_waves
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.next_start import next_start
from streamjob_operator.steps.resize import Resized
from streamjob_operator.steps.shown import approvable, void
from streamjob_operator.steps.solve import plan_params
from streamjob_operator.steps.windows import denying
from streamjob_operator.steps.worth import Worth, drains_only, fills_only, worth
from streamjob_operator.steps.worth_time import newly_used
from streamjob_operator.values import Arrivals, PendingPlan, Reason, Verdict
from streamjob_planners import plans
from streamjob_planners.model import LoadModel, Objective, Plan
from streamjob_planners.verify import verify

OVERLOAD = 100.0
"""Utilisation from which an executor cannot do its work, percent points."""
_GO_ON = (Reason.MOVES_PENDING, Reason.WINDOW_DENIES)
"""Reasons to plan no moves under which those of the newest plan are made all the same."""
_LESS_TELLING = (Reason.BALANCED, Reason.GAIN_TOO_SMALL, Reason.RECOMMENDED, Reason.IDLE)
"""Reasons to move nothing beside which a recommendation of other executors must be told."""

_UNMET = (Reason.QUOTA_BINDS, Reason.NOT_ENOUGH, Reason.WINDOW_DENIES, Reason.EXECUTORS_TIMED_OUT)
"""Reasons for which executors that are needed are not asked for: they tell more than that moves gain too little."""

_AGAIN = "The agent has refused what was asked of it last, so it is asked again."
_FIRST = "This driver has not been asked for the others yet, so it is asked now."


def gate(case: Case) -> Verdict:
    """The verdict; executors that are empty leave even where nothing else is done."""
    verdict, blocked = _judge(case), _blocked(case)
    if verdict.act or (blocked is not None and blocked[0] in leave.DECIDES):
        return verdict
    remove = tuple(one for one in case.remove if one in case.memory.marked)
    return leave.removal(case.memory, case.job, remove, verdict.message, verdict.pending) if remove else verdict


def _judge(case: Case) -> Verdict:
    blocked = _blocked(case)
    if blocked is not None:
        return _hold(case, *blocked)
    case, judged = _moves(case)
    if not (judged.act or case.resizes or case.refused or case.unasked):
        return _nothing_to_do(case, judged)
    if judged.reason in _GO_ON:
        return _only_executors(case)
    case = case if judged.act else _without_moves(case)
    arrivals = _arrivals(case)
    if _needs_approval(case, arrivals):
        return _ask(case, arrivals, judged)
    return _go(case, arrivals, *_why(case, judged, arrivals))


def start(case: Case) -> Verdict | None:
    """The verdict about a plan that a person has approved, of which the case speaks alone; a hold says what it waits
    for. None where nothing at all may be done, as the gate says."""
    if _blocked(case) is not None:
        return None
    waits, judged = _waits(case), _all_worth(case)
    if waits is not None and case.approved is not None and case.approved.moves:
        return _hold(case, waits.reason, waits.message)
    if not (judged.act or case.resizes):
        return _hold(case, judged.reason, judged.message)
    arrivals = _arrivals(case)
    reason, message = _why(case, judged, arrivals)
    verdict = _go(case, arrivals, reason, f"Approved. {message}")
    return dataclasses.replace(verdict, plan=verdict.plan if waits is None else None, pending=case.approved)


def _without_moves(case: Case) -> Case:
    model, plan = case.resized.model, case.resized.plan
    stay = plans.hold_plan(model, planner=plan.planner)
    return dataclasses.replace(case, resized=dataclasses.replace(case.resized, plan=stay))


def _only_executors(case: Case) -> Verdict:
    """Other executors, while the moves of the newest plan go on."""
    case, decision = _without_moves(case), case.resized.decision
    if _needs_approval(case, None):
        return _ask(case, None, Worth(act=False, reason=decision.reason, message=decision.message))
    return dataclasses.replace(_go(case, None, decision.reason, decision.message), plan=None)


def _arrivals(case: Case) -> Arrivals | None:
    """What executors to come shall own, where key groups may move."""
    coming = case.resized.coming
    if coming is None or not case.moves_allowed:
        return None
    return prepared(coming, case.resized.plan, case.job.spec.balancing.migration_budget)


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


def _moves(case: Case) -> tuple[Case, Worth]:
    """The case with its plan as far as that may be carried out, and whether it should be."""
    plan, waits = case.resized.plan, _waits(case)
    if waits is not None:
        return case, waits
    for waiting in _waiting_plans(case):
        again = dataclasses.replace(case, resized=waiting, kept_back=None)
        judged = _all_worth(again)
        if judged.act or (case.resizes and waiting.plan.moves == ()):
            return again, judged
    if case.idle is not None:
        return _only_leaving(case, case.idle)
    if case.moves_allowed:
        return _only_filling(case, _all_worth(case))
    plan, judged = _only_finishing(case.resized.model, plan, case)
    return dataclasses.replace(case, resized=dataclasses.replace(case.resized, plan=plan)), judged


def _waits(case: Case) -> Worth | None:
    """Why no moves can be made now, whatever they are worth."""
    window = denying(case.job.spec.scaling.windows, Denied.MOVE, case.now_s)
    if window is not None:
        return Worth(act=False, reason=Reason.WINDOW_DENIES, message=f"Window '{window.cron}' forbids moves.")
    if not _must_wait(case):
        return None
    count = case.snapshot.moves_pending
    be = "is" if count == 1 else "are"
    message = f"{moves_told(count)} of generation {case.snapshot.generation_applied} {be} pending."
    return Worth(act=False, reason=Reason.MOVES_PENDING, message=message)


def _only_leaving(case: Case, idle: str) -> tuple[Case, Worth]:
    """A query that waits for data: key groups leave marked executors, nothing else moves."""
    drains = drains_only(case.resized.model, case.resized.plan)
    case = dataclasses.replace(case, resized=dataclasses.replace(case.resized, plan=drains))
    if not drains.moves:
        return case, Worth(act=False, reason=Reason.IDLE, message=f"{idle[0].upper()}{idle[1:]}.")
    judged = worth(case.resized.model, drains, case.job.spec.balancing)
    return case, dataclasses.replace(judged, message=f"{judged.message} Their state is loaded by the next batch.")


def _only_filling(case: Case, judged: Worth) -> tuple[Case, Worth]:
    """Of a plan that is made to fill executors, the moves that do: what others of it gain may be noise, as no shorter
    batch is beyond doubt. All of it where those alone would not be made."""
    if judged.reason is not Reason.FILLING:
        return case, judged
    fills = fills_only(case.resized.model, case.resized.plan)
    alone = dataclasses.replace(case, resized=dataclasses.replace(case.resized, plan=fills))
    found = _all_worth(alone)
    return (alone, found) if found.act else (case, judged)


def _all_worth(case: Case) -> Worth:
    """Of the moves that can be made now; where they are not worth it, of those to executors that are to come."""
    judged, coming = _worth(case, case.resized.plan), case.resized.coming
    if judged.act or coming is None or not case.unprepared or case.resizes:
        return judged
    later = worth(coming.model, coming.plan, case.job.spec.balancing, case.standing)
    if not later.act:
        return judged
    return Worth(act=True, reason=Reason.FILLING, message=f"{executors(coming.executors, 'is', 'are')} to come.")


def _worth(case: Case, plan: Plan) -> Worth:
    judged = worth(case.resized.model, plan, case.job.spec.balancing, case.standing)
    if case.kept_back is not None and not (judged.act and plan is not case.resized.plan):
        reason = judged.reason if judged.act else Reason.MEMORY_TOO_SMALL
        judged = Worth(act=judged.act, reason=reason, message=f"{judged.message} {case.kept_back}")
    judged = dataclasses.replace(judged, message=" ".join([judged.message, *speeds.sentences(case.memory)]))
    model = case.resized.model
    too_large = unpredicted(case.snapshot, model.n_nodes) if model.batch is None else None
    if too_large is not None and case.job.spec.balancing.objective is Objective.BATCH_TIME:
        return dataclasses.replace(judged, message=f"{judged.message} {too_large}")
    error = case.memory.batches.error_ratio
    if case.memory.batches.trusted or error is None or case.job.spec.balancing.objective is not Objective.BATCH_TIME:
        return judged
    doubt = f"Predicted batches are off by {100 * error.mean:.0f} percent, so the load distance decides."
    return dataclasses.replace(judged, message=f"{judged.message} {doubt}")


def _only_finishing(model: LoadModel, plan: Plan, case: Case) -> tuple[Plan, Worth]:
    """Balancing is off or only recommends: key groups leave marked executors, nothing else moves."""
    drains = drains_only(model, plan)
    judged = _worth(case, drains)
    if judged.reason is Reason.DRAINING:
        return drains, judged
    judged = _worth(case, plan)
    if not judged.act:
        return plan, judged
    if case.job.spec.balancing.mode is Mode.OFF:
        return plan, Worth(act=False, reason=Reason.MODE_OFF, message="Balancing is off.")
    return plan, Worth(act=False, reason=Reason.RECOMMENDED, message=f"Recommended: {judged.message}")


def _must_wait(case: Case) -> bool:
    """Moves of the last generation are under way, the world they were planned for is still there, and nothing is so
    urgent that they should be replaced: an executor that cannot do its work, or one that has come and has none.

    While executors take the share that was planned for them they are those, and where key groups are is seen too late
    to plan from it.
    """
    plan, model = case.resized.plan, case.resized.model
    if case.snapshot.moves_pending == 0 or case.changed or case.idle is not None:
        return False
    urgent = plan.before.max_load >= OVERLOAD or bool(newly_used(model, plan))
    return case.memory.filling or not (case.resizes or case.unprepared or urgent)


def _waiting_plans(case: Case) -> Iterator[Resized]:
    """Plans that were shown, while they are still possible and still want the same executors; newest first."""
    params = plan_params(case.job)
    for pending in _shown(case):
        found = approve.revive(pending, case.resized)
        if found is None or verify(found.model, found.plan, params):
            continue
        coming = found.coming
        if coming is None or not verify(coming.model, coming.plan, params):
            yield found


def _shown(case: Case) -> Iterator[PendingPlan]:
    """Plans that were shown and may still be approved, which want what is wanted now."""
    for pending in approvable(case.memory, case.job, case.now_s):
        same = (pending.executors_wanted, set(pending.marked)) == (case.resized.wanted, set(case.marks))
        if same and void(pending, case) is None:
            yield pending


def _needs_approval(case: Case, arrivals: Arrivals | None) -> bool:
    spec, model, plan = case.job.spec, case.resized.model, case.resized.plan
    if spec.scaling.mode is Mode.APPROVE and case.resizes and not case.resized.decision.told:
        return True
    moves = arrivals is not None or any(not model.marked[move.source] for move in plan.moves)
    return spec.balancing.mode is Mode.APPROVE and moves


def _ask(case: Case, arrivals: Arrivals | None, judged: Worth) -> Verdict:
    made = approve.pend(case.snapshot, case.memory, dataclasses.replace(case.resized, marked=case.marks), arrivals)
    known = next((one for one in _shown(case) if one.moves == made.moves), made)
    pending = dataclasses.replace(known, policy=case.policy, replaced_at_s=None)
    reason, message = _why(case, judged, arrivals)
    told = f"Plan {pending.plan_hash} waits for approval: {message}"
    if _grows_anyway(case):
        asked = _go(_without_moves(case), None, reason, told)
        return dataclasses.replace(asked, plan=None, pending=pending, awaits=True)
    return dataclasses.replace(_go(case, arrivals, Reason.AWAITING_APPROVAL, told), act=False, pending=pending)


def _grows_anyway(case: Case) -> bool:
    """Whether executors are asked for now, though the moves to them wait for approval."""
    free = case.job.spec.scaling.mode is Mode.AUTO or case.resized.decision.told
    return free and case.resizes and case.resized.decision.reason is Reason.SCALE_OUT


def _go(case: Case, arrivals: Arrivals | None, reason: Reason, message: str) -> Verdict:
    leaving, queries = set(case.resized.marked) - set(case.remove), case.snapshot.queries
    balancing, model = case.job.spec.balancing, case.resized.model
    plan, costs_s = in_waves(model, case.resized.plan, balancing.migration_budget, queries)
    boundary_s = _boundary_s(case, plan.before.expected_s or case.snapshot.rates.mean_batch_s)
    start = next_start(balancing, model, max(1, case.resized.wanted), boundary_s)
    return Verdict(
        act=True,
        reason=reason,
        message=message if start is None else f"{message} {start.told}",
        plan=plan,
        next_start=start,
        executors_target=case.resized.wanted + len(leaving) if case.job.resizes else None,
        marked_for_removal=case.resized.marked,
        remove=case.remove,
        arrivals=arrivals,
        boundaries_s={} if case.idle is not None else boundaries_s(queries, balancing.migration_budget),
        boundary_s=boundary_s,
        move_cost_s=costs_s,
    )


def _boundary_s(case: Case, batch_s: float) -> float | None:
    """Seconds that moves may add to a batch. There are no batches to spread the moves of an idle query over: they share
    its next one."""
    return None if case.idle is not None else allowance_s(case.job.spec.balancing.migration_budget, batch_s)


def _why(case: Case, judged: Worth, arrivals: Arrivals | None) -> tuple[Reason, str]:
    decision = case.resized.decision
    if case.resizes:
        return decision.reason, decision.message + sentence(arrivals)
    if not judged.act:
        return decision.reason, f"{decision.message} {_FIRST if case.unasked else _AGAIN}"
    return judged.reason, judged.message + sentence(arrivals)


def _nothing_to_do(case: Case, judged: Worth) -> Verdict:
    """The more telling of two reasons for doing nothing."""
    decision = case.resized.decision
    if case.recommends_executors and judged.reason in _LESS_TELLING:
        return _recommend(case, judged)
    if judged.reason is Reason.IDLE and decision.reason in (Reason.BALANCED, Reason.REPLICAS_SET):
        return _hold(case, judged.reason, f"{judged.message} {decision.message}")
    unmet = judged.reason is Reason.GAIN_TOO_SMALL and decision.reason in _UNMET
    if unmet or (judged.reason in (Reason.BALANCED, Reason.IDLE) and decision.reason is not Reason.MODE_OFF):
        return _hold(case, decision.reason, f"{decision.message} {judged.message}")
    return _hold(case, judged.reason, judged.message)


def _recommend(case: Case, judged: Worth) -> Verdict:
    """Scaling only recommends: other executors, and the moves if those are recommended, too."""
    resized, moves = case.resized, judged.reason is Reason.RECOMMENDED
    message = f"{judged.message} {resized.decision.message}" if moves else f"Recommended: {resized.decision.message}"
    plan = resized.plan if moves else plans.hold_plan(resized.model, planner=resized.plan.planner)
    return held(Reason.RECOMMENDED, message, plan=plan, marked=case.memory.marked)
