"""Whether a plan gains enough seconds of a batch, and what to say about it."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from streamjob_operator.counting import moves_told
from streamjob_operator.spec import Balancing
from streamjob_operator.steps.boundary import moves_cost_s
from streamjob_operator.steps.worth_distance import affordable
from streamjob_operator.values import Reason
from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.doubt import Doubt, doubt
from streamjob_planners.batch.predict import Binding, Part, predict
from streamjob_planners.called import called
from streamjob_planners.model import LoadModel, Objective, Plan

OBJECTIVE = Objective.BATCH_TIME
LEAST_GAIN, MOST_LEAST_GAIN = 0.01, 0.05
"""Part of a batch that moves must gain, whatever they cost: where predictions have hardly been off, and at most."""
FREE_S = 0.005
"""Seconds below which moves cost nothing."""
NEAR_BOUND = 0.02
"""Part of a batch by which it may be above its bound and count as balanced."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What gains of a job are held to.

    Attributes:
        behind: rows wait, or batches overrun their trigger.
        off: how far predictions have been off in the mean, as a part of a batch, 0 and more.
    """

    behind: bool = False
    off: float = 0.0


AT_EASE = Standing()


def gained(
    model: LoadModel, plan: Plan, balancing: Balancing, standing: Standing = AT_EASE
) -> tuple[Reason, str] | None:
    """The reason to make the plan, None if it does not gain enough."""
    if not plan.moves:
        return None
    before_s, after_s = expected(plan)
    gain_s, cost_s = before_s - after_s, moves_cost_s(model, plan, balancing.migration_budget)
    noise = doubt_of(model, plan)
    if gain_s > least_gain_s(plan, noise, standing) and (gain_s - noise.mean_s) * balancing.payback_batches >= cost_s:
        return Reason.BATCH_TIME, _promise(before_s, after_s, cost_s, len(plan.moves))
    filled = newly_used(model, plan)
    if filled and _levels_out(plan):
        names = ", ".join(filled[:5]) + (f" and {len(filled) - 5} more" if len(filled) > 5 else "")
        message = f"{len(plan.moves)} key groups go to executors that had none: {names}. Batches take {after_s:.1f} s."
        return Reason.FILLING, message
    return None


def not_gained(model: LoadModel, plan: Plan, balancing: Balancing, standing: Standing = AT_EASE) -> tuple[Reason, str]:
    """Why not, with what a batch waits for."""
    before_s, after_s = expected(plan)
    now = f"Batches take {_seconds(before_s)}"
    bound_s = plan.batch_bound_s
    if not plan.moves and not affordable(model, balancing):
        return Reason.BUDGET_TOO_SMALL, f"{now}, but no key group may move: all are pinned or above the budget."
    why = what_binds(model, model.node_of)
    if not plan.moves or (bound_s is not None and _means(plan)[0] <= (1 + NEAR_BOUND) * bound_s):
        least = "" if bound_s is None else f", and no placement takes less than {_seconds(bound_s)}"
        return Reason.BALANCED, f"{now}{least}: {why}."
    cost_s = moves_cost_s(model, plan, balancing.migration_budget)
    noise = doubt_of(model, plan)
    if before_s - after_s <= least_gain_s(plan, noise, standing):
        message = f"{now}; {_little(plan, before_s - after_s, _too_little(plan, noise, standing))}."
    else:
        message = (
            f"{now}; {moves_told(len(plan.moves))} would gain {_seconds(before_s - after_s)} a batch and cost "
            f"{_seconds(cost_s)} once, which is not paid for within {balancing.payback_batches:g} batches."
        )
    return Reason.GAIN_TOO_SMALL, f"{message} {why[0].upper()}{why[1:]}."


def _little(plan: Plan, gain_s: float, little: str) -> str:
    """A plan that evens out the means may add more by chance: then it gains less than nothing."""
    count = moves_told(len(plan.moves))
    if gain_s < 0:
        return f"{count} would make them {_seconds(-gain_s)} longer"
    return f"{count} would gain {_seconds(gain_s)}, {little}"


def expected(plan: Plan) -> tuple[float, float]:
    """Mean batch before and after the plan, seconds; raises ValueError where it predicts none."""
    return _both(plan.before.expected_s, plan.after.expected_s)


def doubt_of(model: LoadModel, plan: Plan) -> Doubt:
    """What the noise of measured tasks may have made of the plan's gain."""
    if model.batch is None:
        raise ValueError("model: it predicts no batches")
    return doubt(model.batch, plan.node_of)


def least_gain_s(plan: Plan, noise: Doubt, standing: Standing = AT_EASE) -> float:
    """Seconds that a gain must exceed to be more than chance, and more than predictions can tell.

    Of a job that falls behind, more than chance makes of it in the mean: its batches are few and differ in size, which
    counts as noise of its tasks, and what it waits for is worse than moves that were not needed.
    """
    if standing.behind:
        return max(LEAST_GAIN * expected(plan)[0], noise.mean_s)
    return max(_told_s(plan, standing), noise.most_s)


def _told_s(plan: Plan, standing: Standing) -> float:
    """Seconds from which predictions can tell two batches apart, each of which may be off."""
    return min(max(LEAST_GAIN, 2 * standing.off), MOST_LEAST_GAIN) * expected(plan)[0]


def newly_used(model: LoadModel, plan: Plan) -> list[str]:
    """Executors without a key group today that the plan gives some."""
    used = np.bincount(plan.node_of, minlength=model.n_nodes) > 0
    return [model.node_ids[node] for node in np.flatnonzero(empty_nodes(model) & used).tolist()]


def what_binds(model: LoadModel, node_of: np.ndarray[tuple[int], np.dtype[np.int64]]) -> str:
    """What most of a batch is spent on, in words."""
    if model.batch is None:
        return "nobody knows what they are spent on"
    found = predict(model.batch, node_of)
    return f"{_words(model, found.longest)} ({_seconds(found.longest.seconds)} of {_seconds(found.expected_s)})"


def _words(model: LoadModel, binding: Binding) -> str:
    if binding.part is Part.FIXED:
        return "most of it is planning, commits and launching tasks, which no executor shortens"
    if binding.level is None:
        return "most of it are stages without key groups"
    node = "an executor" if binding.node is None else f"executor {model.node_ids[binding.node]}"
    stage = f"stage {binding.level + 1}"
    if binding.group is not None:
        return f"{stage} waits for {called(model, binding.group)} alone, on {node}"
    return f"{stage} waits for {node}"


def _promise(before_s: float, after_s: float, cost_s: float, count: int) -> str:
    change = f"Batches take {after_s:.1f} s in place of {before_s:.1f} s"
    cost = moves_told(count, "costs", "cost")
    if cost_s < FREE_S:
        return f"{change}; {cost} nothing: state is loaded where nobody waits for it."
    batches = math.ceil(cost_s / (before_s - after_s))
    paid = "one batch" if batches == 1 else f"{batches} batches"
    return f"{change}; {cost} {_seconds(cost_s)} once; paid for after {paid}."


def _seconds(value: float) -> str:
    if value >= 100:
        return f"{value:.0f} s"
    return f"{value:.1f} s" if value >= 1 else f"{value:.2g} s"


def _too_little(plan: Plan, noise: Doubt, standing: Standing) -> str:
    if not standing.behind and 2 * standing.off > LEAST_GAIN and noise.most_s < _told_s(plan, standing):
        return f"less than predictions can tell, which have been off by {100 * standing.off:.1f} percent"
    if (noise.mean_s if standing.behind else noise.most_s) < FREE_S:
        return "less than predictions can tell"
    if standing.behind:
        return f"and noise of what was measured makes {_seconds(noise.mean_s)} in the mean"
    return f"and up to {_seconds(noise.most_s)} may be noise of what was measured"


def _levels_out(plan: Plan) -> bool:
    """Whether the second measure gets better by more than it can be known."""
    (before, after), (before_s, after_s) = _both(plan.before.level_rms_s, plan.after.level_rms_s), _means(plan)
    return before - after > LEAST_GAIN * before and after_s <= before_s + 1e-9


def _means(plan: Plan) -> tuple[float, float]:
    """Batch before and after if every task took its mean, seconds."""
    return _both(plan.before.batch_s, plan.after.batch_s)


def _both(before: float | None, after: float | None) -> tuple[float, float]:
    if before is None or after is None:
        raise ValueError("plan: it predicts no batches")
    return before, after
