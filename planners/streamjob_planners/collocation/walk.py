"""From today's owners towards a target, as far as the budget and the load distance allow.

Greatest gain of local traffic per cost first. Key groups that are together today and have one target move together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy import sparse

from streamjob_planners.arrays import edges_of, neighbours, sums
from streamjob_planners.collocation.graph import contract
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel
from streamjob_planners.units import Prices, contracted, one_price


@dataclasses.dataclass(slots=True, kw_only=True)
class Walk:
    """The state of one walk. Units are numbered from 0; arrays are (n_units,).

    Loads follow the traffic: what becomes local saves `saving` points at each end per byte/s.
    """

    graph: sparse.csr_array
    target: IntArray
    gain: FloatArray
    saving: float
    ledger: Ledger


def start_walk(model: LoadModel, graph: sparse.csr_array, unit_of: IntArray, target: IntArray, prices: Prices) -> Walk:
    """A walk of units; every unit's key groups share today's node and their target; both arrays are (n_groups,)."""
    units = contracted(model, unit_of, prices.cost)
    n_units = units.n_groups
    walk = Walk(
        graph=contract(graph, unit_of, n_units),
        target=target[np.unique(unit_of, return_index=True)[1]],
        gain=np.zeros(n_units),
        saving=model.traffic_load_ratio,
        ledger=Ledger(one_price(units, Prices(cost=units.migration_cost_s, limit=prices.limit))),
    )
    edges = edges_of(walk.graph)
    pull = _pull(walk, edges.row, walk.ledger.node_of[edges.col])
    walk.gain = sums(edges.row, pull * edges.value, n_units)
    return walk


def _pull(walk: Walk, units: IntArray, where: IntArray) -> FloatArray:
    """+1 where a neighbour at `where` is at the unit's target, -1 where it is at the unit's node of today."""
    here = walk.ledger.node_of[units] == where
    there = walk.target[units] == where
    return np.asarray(there, dtype=np.float64) - np.asarray(here, dtype=np.float64)


def walk_towards(walk: Walk, bands: tuple[float, ...], expired: Callable[[], bool]) -> IntArray:
    """Moves units while budget and time last, within the narrowest band of load distance that has a move left.

    Units on marked nodes go first. Returns the node of each unit, (n_units,). A node already outside the band may only
    come nearer to it.
    """
    pending = walk.ledger.node_of != walk.target
    for band in bands:
        while not expired():
            chosen = _next_unit(walk, pending, band)
            if chosen is None:
                break
            _move(walk, chosen)
            pending[chosen] = False
    return walk.ledger.node_of


def _next_unit(walk: Walk, pending: BoolArray, band: float) -> int | None:
    ledger, model = walk.ledger, walk.ledger.problem.model
    units = np.flatnonzero(pending)
    units = units[ledger.payable(units)]
    units = units[_within(walk, units, band)]
    units = units[ledger.takes(units, walk.target[units])]
    if units.size == 0:
        return None
    drained = units[model.marked[ledger.node_of[units]]]
    units = drained if drained.size else units
    worth = walk.gain[units] / np.maximum(model.migration_cost_s[units], 1e-9)
    use = ledger.utilisation()
    relief = use[ledger.node_of[units]] - use[walk.target[units]]
    best = np.flatnonzero(worth == worth.max())
    return int(units[best[np.argmax(relief[best])]])


def _within(walk: Walk, units: IntArray, band: float) -> BoolArray:
    """True where moving the unit keeps both nodes within the band of the mean, or nearer to it than before."""
    loads, load, model = walk.ledger.loads, walk.ledger.load[units], walk.ledger.problem.model
    source, target, capacity = walk.ledger.node_of[units], walk.target[units], model.capacity
    mean = float(loads.sum()) / float(capacity[~model.marked].sum())
    low_after = mean - (loads[source] - load) / capacity[source]
    high_after = (loads[target] + load) / capacity[target] - mean
    source_fits = (low_after <= band) | model.marked[source]
    return np.asarray(source_fits & (high_after <= band), dtype=np.bool_)


def _move(walk: Walk, unit: int) -> None:
    source, target = int(walk.ledger.node_of[unit]), int(walk.target[unit])
    others, weight = neighbours(walk.graph, unit)
    arrived, left = np.full(others.size, target), np.full(others.size, source)
    walk.gain[others] += weight * (_pull(walk, others, arrived) - _pull(walk, others, left))
    walk.ledger.move(unit, target)
    if walk.saving > 0.0:
        _save(walk, unit, source, target)


def _save(walk: Walk, unit: int, source: int, target: int) -> None:
    """Loads of the unit and its neighbours after it went from source to target."""
    others, weight = neighbours(walk.graph, unit)
    there, here = walk.ledger.node_of[others] == target, walk.ledger.node_of[others] == source
    saved = walk.saving * weight * (there.astype(np.float64) - here.astype(np.float64))
    walk.ledger.lighten(others, saved)
    walk.ledger.lighten(np.array([unit]), saved.sum(keepdims=True))
