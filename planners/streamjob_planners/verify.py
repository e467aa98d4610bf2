"""The independent judge of plans. Shares no code with measures or solvers: a solver never marks its own homework."""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Iterator

import numpy as np

from streamjob_planners.facts import (
    CLOSE,
    batch_facts,
    distance,
    local_traffic,
    on_marked,
    planned_batch_s,
    recomputed,
    same,
    series_s,
)
from streamjob_planners.model import Budget, LoadModel, Objective, Plan, PlanParams


class ViolationCode(enum.StrEnum):
    """What can be wrong with a plan."""

    SHAPE = "Shape"
    MOVES = "Moves"
    BUDGET_COST = "BudgetCost"
    BUDGET_MIGRATIONS = "BudgetMigrations"
    BUDGET_BYTES = "BudgetBytes"
    PINNED = "Pinned"
    RESOURCE = "Resource"
    MARKED_TARGET = "MarkedTarget"
    WORSE_THAN_HOLD = "WorseThanHold"
    EFFECT = "Effect"
    BOUND = "Bound"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Violation:
    """One broken rule: a stable code and a sentence for a person."""

    code: ViolationCode
    sentence: str


def verify(model: LoadModel, plan: Plan, params: PlanParams) -> tuple[Violation, ...]:
    """Everything that is wrong with a plan; empty for a good one. Never raises for a bad plan."""
    shape = tuple(_shape(model, plan))
    if shape:
        return shape
    checks = (
        *_moves(model, plan),
        *_budget(model, plan, params.budget),
        *_places(model, plan),
        *_resources(model, plan),
        *_worth(model, plan, params),
        *_claims(model, plan),
    )
    return checks


def _found(code: ViolationCode, sentence: str) -> Violation:
    return Violation(code=code, sentence=sentence)


def _shape(model: LoadModel, plan: Plan) -> Iterator[Violation]:
    if plan.node_of.shape != (len(model.group_ids),) or plan.node_of.dtype.kind != "i":
        yield _found(ViolationCode.SHAPE, f"node_of has shape {plan.node_of.shape}, one node per key group is needed.")
    elif bool(((plan.node_of < 0) | (plan.node_of >= len(model.node_ids))).any()):
        yield _found(ViolationCode.SHAPE, f"node_of names a node outside 0 to {len(model.node_ids) - 1}.")


def _moves(model: LoadModel, plan: Plan) -> Iterator[Violation]:
    told = {move.group: (move.source, move.target) for move in plan.moves}
    real = {
        group: (int(old), int(new))
        for group, (old, new) in enumerate(zip(model.node_of, plan.node_of, strict=True))
        if old != new
    }
    if len(told) != len(plan.moves):
        yield _found(ViolationCode.MOVES, "A key group is moved more than once.")
    if told != real:
        differing = sorted(set(told.items()) ^ set(real.items()))[:3]
        yield _found(ViolationCode.MOVES, f"The moves do not lead to node_of; see groups {[k for k, _ in differing]}.")
    for move in plan.moves:
        if move.group not in real:
            continue
        facts = (model.migration_cost_s[move.group], model.state_bytes[move.group], model.load[move.group])
        if not all(same(a, float(b)) for a, b in zip((move.cost_s, move.state_bytes, move.load), facts, strict=True)):
            yield _found(ViolationCode.MOVES, f"The move of group {move.group} states a wrong cost, size or load.")


def _budget(model: LoadModel, plan: Plan, budget: Budget) -> Iterator[Violation]:
    moved = plan.node_of != model.node_of
    bills = (
        (ViolationCode.BUDGET_COST, "seconds of pause", model.migration_cost_s[moved], budget.max_cost_s),
        (ViolationCode.BUDGET_MIGRATIONS, "moves", np.ones(int(moved.sum())), budget.max_migrations),
        (ViolationCode.BUDGET_BYTES, "bytes of state", model.state_bytes[moved], budget.max_state_bytes),
    )
    for code, unit, prices, limit in bills:
        total = math.fsum(prices)
        if limit is not None and total > limit * (1 + CLOSE):
            yield _found(code, f"The moves take {total:g} {unit}, the budget is {limit:g}.")


def _places(model: LoadModel, plan: Plan) -> Iterator[Violation]:
    for group in np.flatnonzero(plan.node_of != model.node_of).tolist():
        new = int(plan.node_of[group])
        target = model.node_ids[new]
        if model.pinned[group]:
            yield _found(ViolationCode.PINNED, f"Group {group} is pinned but moves to {target}.")
        if model.marked[new]:
            yield _found(ViolationCode.MARKED_TARGET, f"Group {group} moves to {target}, which is to be removed.")


def _resources(model: LoadModel, plan: Plan) -> Iterator[Violation]:
    for resource in model.resources:
        before, after = np.zeros(len(model.node_ids)), np.zeros(len(model.node_ids))
        np.add.at(before, model.node_of, resource.use)
        np.add.at(after, plan.node_of, resource.use)
        over = after > np.maximum(resource.limit, before) * (1 + CLOSE)
        for node in np.flatnonzero(over).tolist():
            sentence = (
                f"{model.node_ids[node]} would hold {after[node]:g} of {resource.name}, its limit is "
                f"{resource.limit[node]:g}."
            )
            yield _found(ViolationCode.RESOURCE, sentence)


def _worth(model: LoadModel, plan: Plan, params: PlanParams) -> Iterator[Violation]:
    """What the objective counts may only get worse to drain, or to collocate: by load distance within
    max_load_distance, by batch time where what becomes local saves more than the batch gets longer by."""
    by_time = params.objective_of(model) is Objective.BATCH_TIME
    worse = _longer(model, plan) if by_time else _farther(model, plan, params.max_load_distance)
    if worse is None or on_marked(model, plan.node_of) < on_marked(model, model.node_of):
        return
    yield _found(ViolationCode.WORSE_THAN_HOLD, f"{worse} and nothing else would be won.")


def _farther(model: LoadModel, plan: Plan, limit: float) -> str | None:
    before, after = distance(model, model.node_of), distance(model, plan.node_of)
    if after <= before or same(after, before):
        return None
    if local_traffic(model, plan.node_of) > local_traffic(model, model.node_of) and after <= limit * (1 + CLOSE):
        return None
    return f"The load distance would rise from {before:.3f} to {after:.3f} points"


def _longer(model: LoadModel, plan: Plan) -> str | None:
    """The batch first; where that stays the same, the root mean squares of its levels. Either may rise by as much as
    the batches of the series, one by one, get shorter on average, or if the batch is shorter with the seconds that
    tasks will take."""
    before, after = batch_facts(model, model.node_of), batch_facts(model, plan.node_of)
    for name, what in (("batch_s", "A batch"), ("level_rms_s", "The root mean square of the executors' seconds")):
        was, now = before[name] or 0.0, after[name] or 0.0
        if not same(was, now):
            worse = now > was and now - was > _evened_s(model, plan) * (1 + CLOSE) and not _saves(model, plan)
            return f"{what} would rise from {was:.3f} to {now:.3f} s" if worse else None
    return None


def _saves(model: LoadModel, plan: Plan) -> bool:
    """Whether the batch is shorter than today's once the traffic that becomes local costs nothing."""
    before, planned_s = batch_facts(model, model.node_of)["batch_s"], planned_batch_s(model, plan.node_of)
    return before is not None and planned_s is not None and planned_s < before and not same(planned_s, before)


def _evened_s(model: LoadModel, plan: Plan) -> float:
    """By how much the batches of the series get shorter on average, 0 or more, seconds."""
    before, after = series_s(model, model.node_of), series_s(model, plan.node_of)
    return 0.0 if before is None or after is None else max(0.0, before - after)


def _claims(model: LoadModel, plan: Plan) -> Iterator[Violation]:
    for when, claimed, node_of in (("before", plan.before, model.node_of), ("after", plan.after, plan.node_of)):
        for name, fact in recomputed(model, node_of).items():
            told = getattr(claimed, name)
            agree = told is fact if told is None or fact is None else same(told, fact)
            if not agree:
                yield _found(ViolationCode.EFFECT, f"{name} {when} is claimed to be {told}, it is {fact}.")
    reached = distance(model, plan.node_of)
    if plan.lower_bound is not None and plan.lower_bound > reached * (1 + CLOSE) + CLOSE:
        sentence = f"The lower bound {plan.lower_bound:.6f} is above the load distance {reached:.6f} that is reached."
        yield _found(ViolationCode.BOUND, sentence)
    batch_s = batch_facts(model, plan.node_of)["batch_s"]
    if plan.batch_bound_s is not None and batch_s is not None and plan.batch_bound_s > batch_s * (1 + CLOSE) + CLOSE:
        sentence = f"The lower bound {plan.batch_bound_s:.6f} s is above the batch of {batch_s:.6f} s that is reached."
        yield _found(ViolationCode.BOUND, sentence)
