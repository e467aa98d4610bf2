"""Plan again with the executors that scaling adds or marks (algorithm 1 of the ALBIC paper, second planning)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.steps.solve import Solver
from streamjob_operator.values import Memory, Reason, ScalingDecision
from streamjob_planners import measures, plans, what_if
from streamjob_planners.model import Effect, LoadModel, Objective, Plan
from streamjob_planners.verify import verify


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resized:
    """What shall be: `wanted` unmarked executors, `marked` ones, and the plan for the executors that exist.

    `outlook` is the effect expected once executors that are asked for have come; None when none are.
    """

    model: LoadModel
    plan: Plan
    decision: ScalingDecision
    wanted: int
    marked: tuple[str, ...]
    outlook: Effect | None = None


def keep(model: LoadModel, plan: Plan, decision: ScalingDecision, memory: Memory, _: Solver | None = None) -> Resized:
    """No change of executors, as when scaling is off or only recommended."""
    return Resized(model=model, plan=plan, decision=decision, wanted=_wanted(decision, memory), marked=memory.marked)


def resize(model: LoadModel, plan: Plan, decision: ScalingDecision, memory: Memory, solver: Solver) -> Resized:
    """Plan for the decision's target. May raise Hold when the planner fails."""
    if decision.reason is Reason.SCALE_OUT:
        return _grow(model, decision, memory, decision.target - _wanted(decision, memory), solver)
    if decision.reason is Reason.SCALE_IN:
        return _shrink(model, plan, decision, memory, solver)
    return dataclasses.replace(keep(model, plan, decision, memory), wanted=decision.target)


def _wanted(decision: ScalingDecision, memory: Memory) -> int:
    return decision.target if memory.executors_target is None else memory.executors_target


def _grow(model: LoadModel, decision: ScalingDecision, memory: Memory, more: int, solver: Solver) -> Resized:
    """Marked executors are taken back first: they are here, and still hold the most state."""
    back = _heaviest_marked(model, memory, more)
    marked = tuple(one for one in memory.marked if one not in back)
    unmarked = dataclasses.replace(model, marked=model.marked & ~np.isin(model.node_ids, back))
    if len(back) == more:
        plan = solver.solve(unmarked)
        return Resized(model=unmarked, plan=plan, decision=decision, wanted=decision.target, marked=marked)
    future = solver.solve(what_if.with_extra_nodes(unmarked, more - len(back), 1.0))
    return Resized(
        model=unmarked,
        plan=_possible_now(unmarked, future, solver),
        decision=decision,
        wanted=decision.target,
        marked=marked,
        outlook=future.after,
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


def _shrink(model: LoadModel, plan: Plan, decision: ScalingDecision, memory: Memory, solver: Solver) -> Resized:
    """Mark the executors that are cheapest to drain, if the rest can then be balanced (ALBIC paper, algorithm 1).

    A number that somebody else has set is followed even if it leaves the rest uneven.
    """
    count = int((~model.marked).sum()) - decision.target
    if count <= 0:
        return dataclasses.replace(keep(model, plan, decision, memory), wanted=decision.target)
    marks = _waiting_marks(model, decision, memory) or what_if.choose_marks(model, count)
    fewer = _unpinned(what_if.with_marks(model, marks))
    trouble = None if decision.told else _unbalanced(fewer, plan, solver)
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


def _unbalanced(fewer: LoadModel, plan: Plan, solver: Solver) -> tuple[Reason, str] | None:
    """Why the rest could not take it all, or not be balanced, even without a budget; None when it could.

    By batch time only an executor above the mean does harm, which would be the first to be busy all the time.
    """
    best, params = solver.without_budget().solve(fewer).after, solver.params
    if best.marked_groups and fewer.resources:
        left = f"With fewer executors there is no room in memory for {best.marked_groups} key groups' state."
        return Reason.MEMORY_TOO_SMALL, left
    if params.objective_of(fewer) is Objective.BATCH_TIME:
        above, allowed = best.max_load - best.mean, max(params.max_load_distance, plan.after.max_load - plan.after.mean)
        what = "the busiest executor could not get below {:.1f} points above the mean"
    else:
        above, allowed = best.load_distance, max(params.max_load_distance, plan.after.load_distance)
        what = "the load distance could not get below {:.1f} points"
    if above <= allowed:
        return None
    return Reason.WOULD_UNBALANCE, f"With fewer executors {what.format(above)}, {allowed:.1f} are allowed."
