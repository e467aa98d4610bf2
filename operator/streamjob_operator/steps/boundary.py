"""What moves may add to one batch, and what they cost in all."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from streamjob_operator.spec import MigrationBudget
from streamjob_operator.values import QueryPart
from streamjob_planners.batch.waves import Wave, once_s, waves
from streamjob_planners.model import LoadModel, Plan

LEAST_S = 0.05
"""Seconds that are always allowed: less than batches vary."""
BATCH_SHARE = 0.1
"""Part of a batch that moves may add where nobody said more."""


def allowance_s(budget: MigrationBudget, batch_s: float) -> float:
    """Seconds that moves may add to a batch of so many: as stated, what the objective leaves, or a tenth of it."""
    if budget.max_cost_s is not None:
        return budget.max_cost_s
    if budget.latency_objective_s is not None:
        return max(LEAST_S, budget.latency_objective_s - batch_s)
    return max(LEAST_S, BATCH_SHARE * batch_s)


def spread_out(model: LoadModel, plan: Plan, budget: MigrationBudget) -> tuple[Wave, ...]:
    """The plan's moves, boundary by boundary; none where batches cannot be predicted."""
    if model.batch is None:
        return ()
    return waves(model, plan.moves, allowance_s(budget, plan.before.expected_s or 0.0))


def _by_query(model: LoadModel, plan: Plan, budget: MigrationBudget, queries: Sequence[QueryPart]) -> tuple[Wave, ...]:
    if model.batch is None:
        return ()
    allowed_s = boundaries_s(queries, budget)
    return tuple(
        wave
        for query in queries
        for wave in waves(
            model,
            [move for move in plan.moves if query.own(model.group_ids[move.group]) is not None],
            allowed_s[query.query_id],
        )
    )


def moves_cost_s(model: LoadModel, plan: Plan, budget: MigrationBudget) -> float:
    """Seconds that batches take longer while the plan is carried out, once."""
    return once_s(spread_out(model, plan, budget))


def boundaries_s(queries: Sequence[QueryPart], budget: MigrationBudget) -> dict[str, float]:
    """What moves may add to one of each query's own batches, by query id."""
    return {one.query_id: allowance_s(budget, one.mean_batch_s) for one in queries}


def in_waves(
    model: LoadModel, plan: Plan, budget: MigrationBudget, queries: Sequence[QueryPart] = ()
) -> tuple[Plan, tuple[float, ...]]:
    """The plan with its moves in the order of its waves, and what each adds to its batch, (n_moves,).

    The first move of a wave stands for all of it: the others load beside it. Moves of several queries are made at
    boundaries of their own, so each of them has waves of its own.
    """
    spread = _by_query(model, plan, budget, queries) if queries else spread_out(model, plan, budget)
    if not spread:
        return plan, tuple(move.cost_s for move in plan.moves)
    costs_s = (wave.extra_s * (at == 0) for wave in spread for at in range(len(wave.moves)))
    moves = tuple(move for wave in spread for move in wave.moves)
    return dataclasses.replace(plan, moves=moves), tuple(costs_s)
