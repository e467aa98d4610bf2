"""Scale-in as a step of its own: marked nodes first, whatever the load of the others (ALBIC paper, section 5.1)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import plans, registry
from streamjob_planners.albic.settings import INNER
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import Clock, IntArray, LoadModel, Plan, Planner, PlanParams
from streamjob_planners.problem import check_params
from streamjob_planners.units import Prices, one_price, prices


class NonIntegratedPlanner:
    """Scales in first and balances only when every marked node is empty."""

    name = "non-integrated"

    def __init__(self, inner: Planner | None = None) -> None:
        """`inner`: the planner that balances afterwards; the one ALBIC uses where None."""
        self._inner = inner or registry.get(INNER)

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Plans one round. Raises ValueError on bad parameters."""
        start = clock()
        check_params(params)
        node_of = drained_evenly(model, prices(model, params.budget))
        if np.array_equal(node_of, model.node_of):
            return dataclasses.replace(self._inner.solve(model, params, rng, clock), planner=self.name)
        return plans.bounded_plan(model, node_of, params, planner=self.name, start_s=start, clock=clock)


def drained_evenly(model: LoadModel, allowance: Prices) -> IntArray:
    """Key groups of marked nodes go to the node that has received the fewest and may take it, (n_groups,)."""
    ledger, received = Ledger(one_price(model, allowance)), np.zeros(model.n_nodes, dtype=np.int64)
    for group in np.flatnonzero(model.marked[model.node_of] & ~model.pinned).tolist():
        takers = ledger.fitting(group)
        target = int(takers[np.argmin(received[takers])]) if takers.size else None
        if ledger.move(group, target):
            received[target] += 1
    return ledger.node_of
