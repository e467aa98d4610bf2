"""A plan that a person has approved: it is started as it was shown, or a sentence says why not.

An approval names what somebody saw. While a load rises another plan may be shown by the time that the annotation is
there; the approved one is started all the same, if today's measurements still speak for it, and the further step is
asked about next.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.counting import executors
from streamjob_operator.spec import Mode
from streamjob_operator.spec.job import APPROVE
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps import approve
from streamjob_operator.steps.arrivals import Coming
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.gate import gate, start
from streamjob_operator.steps.recall import empty_of
from streamjob_operator.steps.resize import Resized
from streamjob_operator.steps.shown import approvable, void
from streamjob_operator.steps.solve import plan_params
from streamjob_operator.values import PendingPlan, Reason, ScalingDecision, Verdict
from streamjob_planners import plans, what_if
from streamjob_planners.model import LoadModel
from streamjob_planners.verify import verify


def judge(case: Case) -> tuple[Case, Verdict]:
    """The verdict of the approved plan where one may start now, today's otherwise; with the case that it speaks of."""
    called = case.job.approved_plan
    if called is None or called == case.memory.approved_plan or not _asks(case):
        return case, gate(case)
    pending = next((one for one in _approvable(case) if one.plan_hash == called), None)
    if pending is None:
        return case, _with_unknown(case, gate(case), called)
    found = as_shown(pending, case)
    if isinstance(found, str):
        return case, _with_why(gate(case), pending, case, found)
    verdict = start(found)
    if verdict is None:
        return case, gate(case)
    if not verdict.act:
        return case, _with_why(gate(case), pending, case, verdict.message)
    return found, verdict


def _asks(case: Case) -> bool:
    return Mode.APPROVE in (case.job.spec.balancing.mode, case.job.spec.scaling.mode)


def _approvable(case: Case) -> tuple[PendingPlan, ...]:
    return approvable(case.memory, case.job, case.now_s)


def as_shown(pending: PendingPlan, case: Case) -> Case | str:
    """The case in which exactly that plan is carried out, or why it cannot be, as part of a sentence."""
    trouble = void(pending, case) or _against(pending, case)
    if trouble is not None:
        return trouble
    found = approve.revive(pending, _with_its_executors(pending, case))
    if found is None:
        return "a key group of it is elsewhere by now, or an executor has come, gone or been marked"
    broken = _broken(found, case)
    if broken is not None:
        return f"it breaks a rule by today's measurements: {broken}"
    remove = empty_of(found.marked, case.snapshot)
    return dataclasses.replace(case, resized=found, remove=remove, violations=(), approved=pending)


def _against(pending: PendingPlan, case: Case) -> str | None:
    """Why its number of executors is no step towards the one that today's measurements ask for."""
    now, wanted, shown = case.memory.executors_target, case.resized.wanted, pending.executors_wanted
    if _free(case) or now is None or shown == now:
        return None
    if (wanted > now) if shown > now else (wanted <= shown):
        return None
    return f"it asks for {executors(shown)}, and now it is so: {case.resized.decision.message}"


def _free(case: Case) -> bool:
    """Whether executors come and go without a person, so that an approval speaks of moves alone."""
    return case.job.spec.scaling.mode is not Mode.APPROVE or case.resized.decision.told


def _with_its_executors(pending: PendingPlan, case: Case) -> Resized:
    """Today's answer with the plan's executors and marks in place of today's."""
    resized = case.resized
    if _free(case) or (pending.executors_wanted, set(pending.marked)) == (resized.wanted, set(case.marks)):
        return resized
    leaving = [one for one in resized.marked if one not in case.marks]
    marked = tuple(one for one in (*leaving, *pending.marked) if one in resized.model.node_ids)
    model = dataclasses.replace(resized.model, marked=np.isin(resized.model.node_ids, marked))
    missing = pending.executors_wanted - int((~model.marked).sum())
    return dataclasses.replace(
        resized,
        model=model,
        plan=plans.hold_plan(model, planner=resized.plan.planner),
        wanted=pending.executors_wanted,
        marked=marked,
        decision=_decision(pending, case),
        coming=_to_come(resized, model, missing) if missing > 0 else None,
    )


def _to_come(resized: Resized, model: LoadModel, missing: int) -> Coming:
    extended = what_if.with_extra_nodes(model, missing, 1.0)
    return Coming(model=extended, plan=plans.hold_plan(extended, planner=resized.plan.planner), executors=missing)


def _decision(pending: PendingPlan, case: Case) -> ScalingDecision:
    """Today's decision, with the plan's number of executors where that is another one."""
    shown, now, today = pending.executors_wanted, case.memory.executors_target, case.resized.decision
    if shown == today.target or now is None:
        return today
    reason = Reason.SCALE_OUT if shown > now else Reason.SCALE_IN if shown < now else today.reason
    message = f"{executors(shown)} as plan {pending.plan_hash} says; now it would be: {today.message}"
    return dataclasses.replace(today, target=shown, reason=reason, message=message)


def _broken(found: Resized, case: Case) -> str | None:
    params, coming = plan_params(case.job), found.coming
    broken = verify(found.model, found.plan, params)
    if not broken and coming is not None:
        broken = verify(coming.model, coming.plan, params)
    return broken[0].sentence if broken else None


def _with_why(verdict: Verdict, pending: PendingPlan, case: Case, why: str) -> Verdict:
    """Somebody approved a plan that was shown: why it does not start, and what may be approved now."""
    ago = format_duration(max(0, round(case.now_s - pending.made_at_s)))
    told = f"Plan {pending.plan_hash} of {ago} ago is approved and does not start: {why.removesuffix('.')}."
    return dataclasses.replace(verdict, message=f"{verdict.message} {told}{_instead(verdict, pending)}")


def _instead(verdict: Verdict, pending: PendingPlan) -> str:
    if verdict.pending is None or verdict.pending.plan_hash == pending.plan_hash:
        return ""
    return f" What may be approved in its place is {verdict.pending.plan_hash}."


def _with_unknown(case: Case, verdict: Verdict, called: str) -> Verdict:
    """Somebody who approved a plan that was replaced long ago, or mistyped its hash, must hear of it."""
    if verdict.pending is None:
        return verdict
    within = format_duration(case.job.spec.balancing.approvable_for_s)
    told = f"The annotation {APPROVE} names {called}, which is another plan: none that waits, nor was replaced less"
    return dataclasses.replace(verdict, message=f"{verdict.message} {told} than {within} ago.")
