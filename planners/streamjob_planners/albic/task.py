"""One call of a planner, while it runs: the deadline, the price of moves, and the inner solver of step 4."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import bound, what_if
from streamjob_planners.acceptance import no_worse
from streamjob_planners.model import Budget, Clock, IntArray, LoadModel, Planner, PlanParams
from streamjob_planners.problem import check_params
from streamjob_planners.units import Prices, contracted, prices


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """What stays the same during one call. `model` is today's; steps work on models with some key groups moved."""

    model: LoadModel
    params: PlanParams
    rng: np.random.Generator
    clock: Clock
    start_s: float
    prices: Prices
    inner: Planner

    def left_s(self) -> float:
        """Seconds until the deadline, 0 when it has passed."""
        return max(self.params.deadline_s - (self.clock() - self.start_s), 0.0)

    def expired(self) -> bool:
        """Whether the deadline has passed."""
        return self.left_s() <= 0.0

    def past(self, share: float) -> bool:
        """Whether this share of the time, 0 to 1, is used up: steps that others wait for stop there."""
        return self.left_s() <= (1.0 - share) * self.params.deadline_s

    def lower_bound(self) -> float:
        """Lower bound on the load distance under the budget, points, as far as there is time to prove it."""
        return bound.bound_in_time(self.model, self.params, self.left_s)

    def left(self, node_of: IntArray) -> Prices:
        """What the budget still pays when the key groups are at `node_of`."""
        moved = node_of != self.model.node_of
        return Prices(cost=self.prices.cost, limit=max(self.prices.limit - float(self.prices.cost[moved].sum()), 0.0))

    def balance(self, model: LoadModel, unit_of: IntArray, allowance: Prices, *, time_share: float = 0.5) -> IntArray:
        """The inner solver's placement of `model`'s units within the allowance and a share of the time left."""
        limit = None if np.isinf(allowance.limit) else allowance.limit
        deadline_s = time_share * self.left_s()
        params = dataclasses.replace(
            self.params,
            budget=Budget(max_cost_s=limit),
            deadline_s=deadline_s,
            tolerance=max(self.params.tolerance, _grain(model)),
        )
        plan = self.inner.solve(contracted(model, unit_of, allowance.cost), params, self.rng, self.clock)
        return plan.node_of[unit_of]

    def acceptable(self, node_of: IntArray) -> bool:
        """Whether a placement is no worse than today's."""
        return no_worse(self.model, node_of, self.params)

    def moved(self, node_of: IntArray) -> LoadModel:
        """Today's model after key groups went to `node_of`."""
        return what_if.with_owners(self.model, node_of)


def start_task(model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock, inner: Planner) -> Task:
    """Checks the parameters (ValueError) and starts the clock."""
    check_params(params)
    return Task(
        model=model,
        params=params,
        rng=rng,
        clock=clock,
        start_s=clock(),
        prices=prices(model, params.budget),
        inner=inner,
    )


def _grain(model: LoadModel) -> float:
    """Half the median load of the key groups that wait on marked nodes, percent points; 0 when none waits.

    Where such a key group arrives, the load is off by up to half of it. A finer balance during a drain costs moves that
    the last key groups on marked nodes need; it comes when they are gone.
    """
    waiting = model.marked[model.node_of] & ~model.pinned
    if not waiting.any():
        return 0.0
    return 0.5 * float(np.median(model.load[waiting])) / float(np.median(model.capacity[~model.marked]))
