"""Plan again with the executors that scaling adds or marks (algorithm 1 of the ALBIC paper, second planning)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.steps.arrivals import Coming
from streamjob_operator.steps.in_time import InTime
from streamjob_operator.steps.solve import Solver
from streamjob_operator.values import Memory, Reason, ScalingDecision
from streamjob_planners import measures, plans, what_if
from streamjob_planners.model import Effect, LoadModel, Objective, Plan
from streamjob_planners.verify import verify

_COMING = (Reason.WAITING_FOR_EXECUTORS, Reason.REPLICAS_SET, Reason.BALANCED, Reason.NOT_ENOUGH)
"""Decisions under which executors that are missing are still waited for."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """What shall be: `wanted` unmarked executors, `marked` ones, and the plan for the executors that exist.

    `coming` is the plan with the executors that were asked for; None when all are here.
    """

    model: LoadModel
    plan: Plan
    decision: ScalingDecision
    wanted: int
    marked: tuple[str, ...]
    coming: Coming | None = None

    @property
    def outlook(self) -> Effect | None:
        """The effect expected once executors that were asked for have come; None when all are here."""
        return None if self.coming is None else self.coming.plan.after


def keep(
    model: LoadModel,
    plan: Plan,
    decision: ScalingDecision,
    memory: Memory,
    _solver: Solver | None = None,
    _limit: InTime | None = None,
) -> Resized:
    """No change of executors, as when scaling is off or only recommended."""
    return Resized(model=model, plan=plan, decision=decision, wanted=_wanted(decision, memory), marked=memory.marked)


def resize(
    model: LoadModel,
    plan: Plan,
    decision: ScalingDecision,
    memory: Memory,
    solver: Solver,
    limit: InTime | None = None,
) -> Resized:
    """Plan for the decision's target; `limit` is what batches may take, None where they only have to keep up.

    May raise Hold when the planner fails.
    """
    if decision.reason is Reason.SCALE_OUT:
        return _grow(model, decision, memory, solver)
    if decision.reason is Reason.SCALE_IN:
        return _shrink(model, plan, decision, memory, solver, limit)
    kept = dataclasses.replace(keep(model, plan, decision, memory), wanted=decision.target)
    missing = _missing(model, decision)
    return _with_coming(kept, missing, solver) if missing and decision.reason in _COMING else kept


def _missing(model: LoadModel, decision: ScalingDecision) -> int:
    return max(0, decision.target - int((~model.marked).sum()))


def _wanted(decision: ScalingDecision, memory: Memory) -> int:
    return decision.target if memory.executors_target is None else memory.executors_target


def _grow(model: LoadModel, decision: ScalingDecision, memory: Memory, solver: Solver) -> Resized:
    """Marked executors are taken back first: they are here, and still hold the most state."""
    more = decision.target - _wanted(decision, memory)
    back = _heaviest_marked(model, memory, more)
    marked = tuple(one for one in memory.marked if one not in back)
    unmarked = dataclasses.replace(model, marked=model.marked & ~np.isin(model.node_ids, back))
    hold = plans.hold_plan(unmarked, planner=solver.planner.name)
    grown = Resized(model=unmarked, plan=hold, decision=decision, wanted=decision.target, marked=marked)
    missing = _missing(unmarked, decision)
    return _with_coming(grown, missing, solver) if missing else dataclasses.replace(grown, plan=solver.solve(unmarked))


def _with_coming(resized: Resized, missing: int, solver: Solver) -> Resized:
    """Planned with the executors that are to come; what is possible without them goes first."""
    extended = what_if.with_extra_nodes(resized.model, missing, 1.0)
    future = solver.solve(extended)
    if verify(extended, future, solver.params):
        return dataclasses.replace(resized, plan=solver.solve(resized.model))
    return dataclasses.replace(
        resized,
        plan=_possible_now(resized.model, future, solver),
        coming=Coming(model=extended, plan=future, executors=missing),
    )


def _heaviest_marked(model: LoadModel, memory: Memory, count: int) -> list[str]:
    loads = dict(zip(model.node_ids, measures.node_loads(model, model.node_of), strict=True))
    return sorted((one for one in memory.marked if one in loads), key=lambda one: (-loads[one], one))[:count]


def _possible_now(model: LoadModel, future: Plan, solver: Solver) -> Plan:
    """The moves of a plan for more executors whose targets exist, if they help alone; the others wait."""
    exists = future.node_of < model.n_nodes
    part = plans.make_plan(
        model,
        np.where(exists, future.node_of, model.node_of).astype(np.int64),
        planner=future.planner,
        elapsed_s=future.elapsed_s,
        notes=future.notes,
    )
    return plans.hold_plan(model, planner=future.planner) if verify(model, part, solver.params) else part


def _shrink(
    model: LoadModel,
    plan: Plan,
    decision: ScalingDecision,
    memory: Memory,
    solver: Solver,
    limit: InTime | None,
) -> Resized:
    """Mark the executors that are cheapest to drain, if the rest can then be balanced (ALBIC paper, algorithm 1).

    A number that somebody else has set is followed even if it leaves the rest uneven.
    """
    count = int((~model.marked).sum()) - decision.target
    if count <= 0:
        return dataclasses.replace(keep(model, plan, decision, memory), wanted=decision.target)
    marks = _waiting_marks(model, decision, memory) or what_if.choose_marks(model, count)
    fewer = _unpinned(what_if.with_marks(model, marks))
    trouble = None if decision.told else _unbalanced(fewer, plan, solver, limit)
    if trouble is not None:
        stay = dataclasses.replace(decision, target=_wanted(decision, memory), reason=trouble[0], message=trouble[1])
        return keep(model, plan, stay, memory)
    return Resized(
        model=fewer,
        plan=solver.solve(fewer),
        decision=decision,
        wanted=decision.target,
        marked=(*memory.marked, *(model.node_ids[node] for node in marks)),
    )


def _unpinned(model: LoadModel) -> LoadModel:
    """Key groups leave executors that go, pinned or not."""
    return dataclasses.replace(model, pinned=model.pinned & ~model.marked[model.node_of])


def _waiting_marks(model: LoadModel, decision: ScalingDecision, memory: Memory) -> tuple[int, ...]:
    """The marks of a plan that waits for approval: a person must find the same plan again."""
    pending = memory.pending
    if pending is None or pending.executors_wanted != decision.target:
        return ()
    open_nodes = {name: at for at, name in enumerate(model.node_ids) if not model.marked[at]}
    marks = tuple(open_nodes[name] for name in pending.marked if name in open_nodes)
    return marks if len(open_nodes) - len(marks) == decision.target else ()


def _unbalanced(fewer: LoadModel, plan: Plan, solver: Solver, limit: InTime | None) -> tuple[Reason, str] | None:
    """Why the rest could not take it all, or not be balanced, even without a budget; None when it could.

    By batch time only an executor above the mean does harm, which would be the first to be busy all the time; not where
    batches would be in time all the same: a heavy key group keeps its executor there, with however many others.
    """
    found, params = solver.without_budget().solve(fewer), solver.params
    best = found.after
    if best.marked_groups and fewer.resources:
        left = f"With fewer executors there is no room in memory for {best.marked_groups} key groups' state."
        return Reason.MEMORY_TOO_SMALL, left
    if params.objective_of(fewer) is Objective.BATCH_TIME:
        above, allowed = best.max_load - best.mean, max(params.max_load_distance, plan.after.max_load - plan.after.mean)
        what = "the busiest executor could not get below {:.1f} points above the mean"
    else:
        above, allowed, limit = best.load_distance, max(params.max_load_distance, plan.after.load_distance), None
        what = "the load distance could not get below {:.1f} points"
    if above <= allowed:
        return None
    message = f"With fewer executors {what.format(above)}, {allowed:.1f} are allowed"
    if limit is None or fewer.batch is None:
        return Reason.WOULD_UNBALANCE, f"{message}."
    batch_s = limit.batch_s(fewer.batch, found.node_of)
    if batch_s <= limit.objective_s:
        return None
    return Reason.WOULD_UNBALANCE, f"{message}, and batches would take {batch_s:.1f} s of {limit.objective_s:.1f} s."
