"""Flux (Shah et al., ICDE 2003), as the ALBIC paper describes it in section 2.2.

Nodes are sorted by load; the first gives its largest suitable key group to the last, the second to the last but one,
and so on. A key group is suitable when the variance of the loads falls. Passes are repeated while the budget lasts.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners import plans
from streamjob_planners.acceptance import no_worse
from streamjob_planners.arrays import sums
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import BoolArray, Clock, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import check_params
from streamjob_planners.units import Prices, one_price, prices


class FluxPlanner:
    """Pairs the most and the least loaded nodes until the budget is spent; knows no traffic."""

    name = "flux"

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic: chance is not used. Raises ValueError on bad parameters."""
        start = clock()
        check_params(params)

        def expired() -> bool:
            return clock() - start >= params.deadline_s

        node_of = flux_owners(model, prices(model, params.budget), expired)
        kept = node_of if no_worse(model, node_of, params) else model.node_of
        return plans.bounded_plan(model, kept, params, planner=self.name, start_s=start, clock=clock)


def flux_owners(model: LoadModel, allowance: Prices, expired: Callable[[], bool]) -> IntArray:
    """The new node of each key group, (n_groups,). Marked nodes give first and receive nothing."""
    ledger, waiting = Ledger(one_price(model, allowance)), ~model.pinned
    moved = 1
    while moved and not expired():
        moved = _pass(ledger, waiting)
    return ledger.node_of


def _pass(ledger: Ledger, waiting: BoolArray) -> int:
    """One pass over the pairs of nodes; how many key groups moved. Those `waiting` have not moved yet, (n_groups,)."""
    model, use = ledger.problem.model, ledger.utilisation()
    holds = sums(ledger.node_of, waiting, model.n_nodes) > 0
    givers = np.lexsort((-use, ~(model.marked & holds)))
    takers = np.flatnonzero(~model.marked)
    takers = takers[np.argsort(use[takers], kind="stable")]
    moved = 0
    for giver, taker in zip(givers.tolist(), takers.tolist(), strict=False):
        group = _suitable(ledger, waiting, giver, taker)
        if group is not None:
            ledger.move(group, taker)
            waiting[group] = False
            moved += 1
    return moved


def _suitable(ledger: Ledger, waiting: BoolArray, giver: int, taker: int) -> int | None:
    """The largest key group of the giver whose move lowers the variance; from a marked giver any one may go."""
    model = ledger.problem.model
    mine = np.flatnonzero((ledger.node_of == giver) & waiting)
    mine = mine[ledger.payable(mine) & ledger.takes(mine, np.full(mine.size, taker))]
    after = (ledger.loads[taker] + model.load[mine]) / model.capacity[taker]
    fits = mine[after < ledger.utilisation()[giver] - 1e-12]
    if fits.size:
        return int(fits[np.argmax(model.load[fits])])
    if model.marked[giver] and mine.size:
        return int(mine[np.argmin(model.load[mine])])
    return None
