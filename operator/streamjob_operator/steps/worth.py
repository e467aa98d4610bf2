"""Whether a plan's moves are worth making, and what for."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.counting import moves_told
from streamjob_operator.spec import Balancing
from streamjob_operator.steps import worth_distance, worth_swing, worth_time
from streamjob_operator.steps.worth_time import AT_EASE, Standing
from streamjob_operator.values import Reason
from streamjob_planners import acceptance, plans, traffic
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import compile_problem


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The judgement: `act` and the reason, with a sentence."""

    act: bool
    reason: Reason
    message: str


def worth(model: LoadModel, plan: Plan, balancing: Balancing, standing: Standing = AT_EASE) -> Worth:
    """Drains are always worth it; balance pays in seconds of a batch, or above the bound on the load distance;
    collocation where it saves what it costs."""
    before, after = plan.before, plan.after
    if after.marked_groups < before.marked_groups:
        leaving = before.marked_groups - after.marked_groups
        message = f"{leaving} of {before.marked_groups} key groups leave executors that go."
        return Worth(act=True, reason=Reason.DRAINING, message=message)
    timed = by_time(model, balancing)
    if timed:
        found = worth_time.gained(model, plan, balancing, standing) or worth_swing.gained(model, plan, balancing)
    else:
        found = worth_distance.gained(model, plan, balancing)
    if found is not None:
        return Worth(act=True, reason=found[0], message=found[1])
    if balancing.collocation.enabled and _collocates(model, plan, balancing):
        return _collocation(model, plan, _payback_s(model, plan, balancing))
    if timed:
        reason, message = worth_time.not_gained(model, plan, balancing, standing)
    else:
        reason, message = worth_distance.not_gained(model, plan, balancing)
    return Worth(act=False, reason=reason, message=message)


def by_time(model: LoadModel, balancing: Balancing) -> bool:
    """Whether seconds of a batch decide: it is the objective, and batches can be predicted."""
    return model.batch is not None and balancing.objective is worth_time.OBJECTIVE


def drains_only(model: LoadModel, plan: Plan) -> Plan:
    """The plan's moves away from marked executors, for when nothing else may move.

    Where others of its moves were to make room, a key group goes elsewhere, or waits where there is none.
    """
    node_of = np.where(model.marked[model.node_of], plan.node_of, model.node_of).astype(np.int64)
    node_of = _with_room(model, node_of) if model.resources else node_of
    return plans.make_plan(model, node_of, planner=plan.planner, elapsed_s=plan.elapsed_s, notes=plan.notes)


def _with_room(model: LoadModel, node_of: IntArray) -> IntArray:
    """The moves to `node_of`, heaviest first, each to where the executor's limits allow it."""
    books = Ledger(compile_problem(model, PlanParams()))
    for group in books.heaviest_first(np.flatnonzero(node_of != model.node_of)):
        target = int(node_of[group])
        books.move(group, target if books.fits(group, target) else books.least_used_target(group))
    return books.node_of


def fills_only(model: LoadModel, plan: Plan) -> Plan:
    """The plan's moves to executors that have no key group today and away from marked ones."""
    travels = acceptance.empty_nodes(model)[plan.node_of] | model.marked[model.node_of]
    node_of = np.where(travels, plan.node_of, model.node_of).astype(np.int64)
    return plans.make_plan(model, node_of, planner=plan.planner, elapsed_s=plan.elapsed_s, notes=plan.notes)


def _collocates(model: LoadModel, plan: Plan, balancing: Balancing) -> bool:
    """Whether much more traffic becomes local, and no batch gets longer for it, or the load distance larger than it may
    be."""
    before, after = plan.before.collocation_factor, plan.after.collocation_factor
    if before is None or after is None or after - before < balancing.collocation.min_gain or not plan.moves:
        return False
    if by_time(model, balancing):
        return acceptance.no_longer_then(model, plan.node_of, plan.before)
    return plan.after.load_distance <= max(balancing.max_load_distance, plan.before.load_distance)


def _payback_s(model: LoadModel, plan: Plan, balancing: Balancing) -> float:
    """Seconds within which collocation must save what its moves cost."""
    if not by_time(model, balancing):
        return traffic.PAYBACK_S
    return balancing.payback_batches * worth_time.expected(plan)[0]


def _collocation(model: LoadModel, plan: Plan, within_s: float) -> Worth:
    """Collocation pays when it saves, at most, what its moves cost: with hardly any traffic it is a figure only."""
    change = f"Collocation from {plan.before.collocation_factor:.1f} to {plan.after.collocation_factor:.1f} percent"
    cost_s = sum(float(model.migration_cost_s[move.group]) for move in plan.moves)
    saved = traffic.saved_s(model, plan.node_of, within_s)
    if saved >= cost_s:
        return Worth(act=True, reason=Reason.COLLOCATION, message=f"{change}.")
    message = (
        f"{change} would save {saved:.2g} s of work within {within_s:.0f} s; its "
        f"{moves_told(len(plan.moves), 'costs', 'cost')} {cost_s:.2g} s."
    )
    return Worth(act=False, reason=Reason.GAIN_TOO_SMALL, message=message)
