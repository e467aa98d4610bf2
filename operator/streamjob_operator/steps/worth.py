"""Whether a plan's moves are worth making, and what for."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.spec import Balancing
from streamjob_operator.steps.estimate import MoveCost
from streamjob_operator.values import Reason
from streamjob_planners import plans, traffic
from streamjob_planners.model import LoadModel, Plan

PAYS_BACK_PERIODS = 10
"""A plan that the next few periods undo must not have cost more than it gained."""
MIN_MOVE_PRICE = 0.05
"""Percent points; for long periods, in which moves cost next to nothing, plans are still kept short."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Worth:
    """The judgement: `act` and the reason, with a sentence."""

    act: bool
    reason: Reason
    message: str


def worth(model: LoadModel, plan: Plan, balancing: Balancing) -> Worth:
    """Drains are always worth it; balance pays above the bound, collocation where it gains enough."""
    before, after = plan.before, plan.after
    if after.marked_groups < before.marked_groups:
        leaving = before.marked_groups - after.marked_groups
        message = f"{leaving} of {before.marked_groups} key groups leave executors that go."
        return Worth(act=True, reason=Reason.DRAINING, message=message)
    gain = before.load_distance - after.load_distance
    if _too_far(plan, balancing) and plan.moves and gain > _price(plan, balancing):
        message = (
            f"Load distance from {before.load_distance:.1f} to {after.load_distance:.1f} with {len(plan.moves)} moves."
        )
        return Worth(act=True, reason=Reason.LOAD_DISTANCE, message=message)
    if balancing.collocation.enabled and _collocates(plan, balancing):
        return _collocation(model, plan)
    return _not_worth(model, plan, balancing, gain)


def drains_only(model: LoadModel, plan: Plan) -> Plan:
    """The plan's moves away from marked executors, for when nothing else may move."""
    node_of = np.where(model.marked[model.node_of], plan.node_of, model.node_of).astype(np.int64)
    return plans.make_plan(model, node_of, planner=plan.planner, elapsed_s=plan.elapsed_s, notes=plan.notes)


def _too_far(plan: Plan, balancing: Balancing) -> bool:
    return plan.before.load_distance > balancing.max_load_distance + 1e-6  # sums of floats are not exact


def move_price(balancing: Balancing) -> float:
    """Percent points of load distance that a move must gain: as stated, or what it costs, spread over ten periods."""
    if balancing.price_per_move is not None:
        return balancing.price_per_move
    return max(MIN_MOVE_PRICE, 100.0 * MoveCost().fixed_s / (PAYS_BACK_PERIODS * balancing.statistics_period_s))


def _price(plan: Plan, balancing: Balancing) -> float:
    return max(balancing.tolerance, move_price(balancing) * len(plan.moves))


def _collocates(plan: Plan, balancing: Balancing) -> bool:
    before, after = plan.before.collocation_factor, plan.after.collocation_factor
    if before is None or after is None or after - before < balancing.collocation.min_gain or not plan.moves:
        return False
    return plan.after.load_distance <= max(balancing.max_load_distance, plan.before.load_distance)


def _collocation(model: LoadModel, plan: Plan) -> Worth:
    """Collocation pays when it saves, at most, what its moves cost: with hardly any traffic it is a figure only."""
    change = f"Collocation from {plan.before.collocation_factor:.1f} to {plan.after.collocation_factor:.1f} percent"
    cost_s = sum(float(model.migration_cost_s[move.group]) for move in plan.moves)
    saved = traffic.saved_s(model, plan.node_of)
    if saved >= cost_s:
        return Worth(act=True, reason=Reason.COLLOCATION, message=f"{change}.")
    message = f"{change} would save {saved:.2g} s of work in an hour; its {len(plan.moves)} moves cost {cost_s:.2g} s."
    return Worth(act=False, reason=Reason.GAIN_TOO_SMALL, message=message)


def _not_worth(model: LoadModel, plan: Plan, balancing: Balancing, gain: float) -> Worth:
    distance = plan.before.load_distance
    if not _too_far(plan, balancing):
        message = f"Load distance {distance:.1f}, up to {balancing.max_load_distance:g} is tolerated."
        return Worth(act=False, reason=Reason.BALANCED, message=message)
    if not plan.moves and not _affordable(model, balancing):
        message = f"Load distance {distance:.1f}, but the migration budget does not pay for a single move."
        return Worth(act=False, reason=Reason.BUDGET_TOO_SMALL, message=message)
    message = f"Load distance {distance:.1f}; {_shortfall(plan, balancing, gain)}. {' '.join(plan.notes)}"
    return Worth(act=False, reason=Reason.GAIN_TOO_SMALL, message=message.strip())


def _shortfall(plan: Plan, balancing: Balancing, gain: float) -> str:
    if not plan.moves:
        price, tolerance = move_price(balancing), balancing.tolerance
        together = f" and {tolerance:g} together" if tolerance > price else ""
        return f"no moves were found that gain {price:.2g} each{together}"
    return f"{len(plan.moves)} moves would gain {gain:.1f}, more than {_price(plan, balancing):.2g} is needed"


def _affordable(model: LoadModel, balancing: Balancing) -> bool:
    """Whether the budget pays for the cheapest move."""
    budget = balancing.migration_budget
    free = ~model.pinned
    if not free.any():
        return False
    cost_s, size = float(model.migration_cost_s[free].min()), float(model.state_bytes[free].min())
    return not (
        (budget.max_cost_s is not None and cost_s > budget.max_cost_s)
        or (budget.max_state_bytes is not None and size > budget.max_state_bytes)
    )
