"""Flux (Shah et al., ICDE 2003), as the ALBIC paper describes it in section 2.2.

Nodes are sorted by load; the first gives its largest suitable key group to the last, the second to the last but one,
and so on. A key group is suitable when the variance of the loads falls. Passes are repeated while the budget lasts.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners import plans
from streamjob_planners.acceptance import no_worse
from streamjob_planners.albic.hosting import Hosting, hosting_of
from streamjob_planners.arrays import sums
from streamjob_planners.model import BoolArray, Clock, FloatArray, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import check_params
from streamjob_planners.units import Prices, prices


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


@dataclasses.dataclass(slots=True, kw_only=True)
class _State:
    """What changes with every move; a key group moves at most once."""

    model: LoadModel
    cost: FloatArray
    hosting: Hosting
    node_of: IntArray
    load: FloatArray
    movable: BoolArray
    budget: float


def flux_owners(model: LoadModel, allowance: Prices, expired: Callable[[], bool]) -> IntArray:
    """The new node of each key group, (n_groups,). Marked nodes give first and receive nothing."""
    state = _State(
        model=model,
        cost=allowance.cost,
        hosting=hosting_of(model),
        node_of=model.node_of.copy(),
        load=sums(model.node_of, model.load, model.n_nodes),
        movable=~model.pinned,
        budget=allowance.limit,
    )
    moved = 1
    while moved and not expired():
        moved = _pass(state)
    return state.node_of


def _pass(state: _State) -> int:
    """One pass over the pairs of nodes; how many key groups moved."""
    model, use = state.model, state.load / state.model.capacity
    holds = sums(state.node_of, state.movable, model.n_nodes) > 0
    givers = np.lexsort((-use, ~(model.marked & holds)))
    takers = np.flatnonzero(~model.marked)
    takers = takers[np.argsort(use[takers], kind="stable")]
    moved = 0
    for giver, taker in zip(givers.tolist(), takers.tolist(), strict=False):
        group = _suitable(state, giver, taker)
        if group is not None:
            _move(state, group, giver, taker)
            moved += 1
    return moved


def _move(state: _State, group: int, giver: int, taker: int) -> None:
    state.hosting.move(group, giver, taker)
    state.node_of[group], state.movable[group] = taker, False
    state.load[giver] -= state.model.load[group]
    state.load[taker] += state.model.load[group]
    state.budget -= float(state.cost[group])


def _suitable(state: _State, giver: int, taker: int) -> int | None:
    """The largest key group of the giver whose move lowers the variance; from a marked giver any one may go."""
    model = state.model
    mine = np.flatnonzero((state.node_of == giver) & state.movable & (state.cost <= state.budget))
    mine = mine[state.hosting.takes(mine, np.full(mine.size, taker))]
    after = (state.load[taker] + model.load[mine]) / model.capacity[taker]
    fits = mine[after < state.load[giver] / model.capacity[giver] - 1e-12]
    if fits.size:
        return int(fits[np.argmax(model.load[fits])])
    if model.marked[giver] and mine.size:
        return int(mine[np.argmin(model.load[mine])])
    return None
