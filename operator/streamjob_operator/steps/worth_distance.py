"""Whether a plan gains enough load distance (percent points), where that is the objective."""

from __future__ import annotations

from streamjob_operator.counting import moves_told
from streamjob_operator.spec import Balancing
from streamjob_operator.values import Reason
from streamjob_planners.distance_doubt import distance_doubt
from streamjob_planners.model import LoadModel, Plan

TOLERANCE, PRICE_PER_MOVE = 0.5, 0.05
"""Percent points that a plan must gain in all, and each of its moves: less is nothing that anybody would notice."""


def gained(model: LoadModel, plan: Plan, balancing: Balancing) -> tuple[Reason, str] | None:
    """The reason to make the plan, None if it does not gain enough."""
    before, after = plan.before.load_distance, plan.after.load_distance
    if not _too_far(plan, balancing) or not plan.moves or before - after <= _price(plan):
        return None
    if before - after <= distance_doubt(model, plan.node_of):
        return None
    return Reason.LOAD_DISTANCE, f"Load distance from {before:.1f} to {after:.1f} with {moves_told(len(plan.moves))}."


def not_gained(model: LoadModel, plan: Plan, balancing: Balancing) -> tuple[Reason, str]:
    """Why not."""
    distance = plan.before.load_distance
    if not _too_far(plan, balancing):
        message = f"Load distance {distance:.1f}, up to {balancing.max_load_distance:g} is tolerated."
        return Reason.BALANCED, message
    if not plan.moves and not affordable(model, balancing):
        return (
            Reason.BUDGET_TOO_SMALL,
            f"Load distance {distance:.1f}, but no key group may move: all are pinned or above the budget.",
        )
    message = f"Load distance {distance:.1f}; {_shortfall(model, plan)}. {' '.join(plan.notes)}"
    return Reason.GAIN_TOO_SMALL, message.strip()


def affordable(model: LoadModel, balancing: Balancing) -> bool:
    """Whether the budget pays for moving the smallest key group."""
    most, free = balancing.migration_budget.max_state_bytes, ~model.pinned
    return bool(free.any()) and (most is None or float(model.state_bytes[free].min()) <= most)


def within(distance: float, balancing: Balancing) -> bool:
    """Whether so many percent points of load distance are tolerated."""
    return distance <= balancing.max_load_distance + 1e-6  # sums of floats are not exact


def _too_far(plan: Plan, balancing: Balancing) -> bool:
    return not within(plan.before.load_distance, balancing)


def _price(plan: Plan) -> float:
    return max(TOLERANCE, PRICE_PER_MOVE * len(plan.moves))


def _shortfall(model: LoadModel, plan: Plan) -> str:
    if not plan.moves:
        return f"no moves were found that gain {PRICE_PER_MOVE:g} each and {TOLERANCE:g} together"
    gain = plan.before.load_distance - plan.after.load_distance
    told = f"{moves_told(len(plan.moves))} would gain {gain:.1f}"
    if gain <= _price(plan):
        return f"{told}, more than {_price(plan):.2g} is needed"
    return f"{told}, and up to {distance_doubt(model, plan.node_of):.1f} may be noise of what was measured"
