"""Key groups that move together, seen as one, and one price for a budget of several limits.

A budget counts key groups, seconds and bytes; a unit of ten key groups is not one move. So each key group has one
price, the greatest share that it takes of any limit, and the inner solver gets that price as its cost.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import sums
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import Budget, FloatArray, IntArray, LoadModel, PlanParams, Resource
from streamjob_planners.problem import Problem, compile_problem

_NEVER = 1e300
"""A finite price that no budget pays."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """What moving costs: of each key group, (n_groups,), and of all together, both in one unit of any kind.

    Keeping to `limit` keeps every limit of the budget: the sum of the greatest shares is no less than the greatest sum.
    """

    cost: FloatArray
    limit: float


def prices(model: LoadModel, budget: Budget) -> Prices:
    """One price for a budget of several limits; with a single limit it is that limit's own unit."""
    limits: list[tuple[FloatArray, float]] = []
    if budget.max_migrations is not None:
        limits.append((np.ones(model.n_groups), float(budget.max_migrations)))
    if budget.max_cost_s is not None:
        limits.append((model.migration_cost_s, budget.max_cost_s))
    if budget.max_state_bytes is not None:
        limits.append((model.state_bytes, budget.max_state_bytes))
    if not limits:
        return Prices(cost=np.ones(model.n_groups), limit=float("inf"))
    if len(limits) == 1:
        return Prices(cost=limits[0][0].astype(np.float64), limit=limits[0][1])
    shares = np.stack([_share(amount, limit) for amount, limit in limits])
    return Prices(cost=shares.max(axis=0), limit=1.0)


def one_price(model: LoadModel, allowance: Prices) -> Problem:
    """The problem of a model whose key groups have this one price in place of seconds, moves and bytes."""
    priced = dataclasses.replace(model, migration_cost_s=_finite(allowance.cost))
    limit = None if np.isinf(allowance.limit) else allowance.limit
    return compile_problem(priced, PlanParams(budget=Budget(max_cost_s=limit)))


def _finite(cost: FloatArray) -> FloatArray:
    return np.where(np.isfinite(cost), cost, _NEVER)


def _share(amount: FloatArray, limit: float) -> FloatArray:
    """Amount over limit; a limit of 0 lets only free moves through."""
    if limit > 0.0:
        return np.asarray(amount / limit)
    return np.where(amount > 0.0, np.inf, 0.0)


def contracted(model: LoadModel, unit_of: IntArray, cost: FloatArray) -> LoadModel:
    """A load model of units. The key groups of a unit must be on one node; a unit with a pinned member is pinned.

    It has no batch, as key groups of one unit may be tasks of several levels, and neither series nor errors of loads.

    Args:
        unit_of: unit of each key group, from 0 without gaps, (n_groups,).
        cost: price of moving each key group; becomes the units' migration_cost_s, (n_groups,).
    """
    n_units = int(unit_of.max(initial=-1)) + 1
    first = np.unique(unit_of, return_index=True)[1]
    return dataclasses.replace(
        model,
        group_ids=GroupIds(operator=np.zeros(n_units, dtype=np.int64), partition=np.arange(n_units)),
        node_of=model.node_of[first],
        load=sums(unit_of, model.load, n_units),
        migration_cost_s=_finite(sums(unit_of, cost, n_units)),
        state_bytes=sums(unit_of, model.state_bytes, n_units),
        traffic=None,
        traffic_out=None,
        traffic_partners=None,
        batch=None,
        load_series=None,
        load_error=None,
        pinned=sums(unit_of, model.pinned, n_units) > 0,
        resources=tuple(
            Resource(name=one.name, use=sums(unit_of, one.use, n_units), limit=one.limit) for one in model.resources
        ),
    )
