"""From today's owners towards a target, as far as the budget and the load distance allow.

Greatest gain of local traffic per cost first. Key groups that are together today and have one target move together.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy import sparse

from streamjob_planners.albic.hosting import Hosting, hosting_of
from streamjob_planners.arrays import edges_of, neighbours, sums
from streamjob_planners.collocation.graph import contract
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel
from streamjob_planners.units import Prices, contracted


@dataclasses.dataclass(slots=True, kw_only=True)
class Walk:
    """The state of one walk. Units are numbered from 0; arrays are (n_units,) or (n_nodes,).

    Loads follow the traffic: what becomes local saves `saving` points at each end per byte/s.
    """

    graph: sparse.csr_array
    node_of: IntArray
    target: IntArray
    load: FloatArray
    cost: FloatArray
    gain: FloatArray
    node_load: FloatArray
    capacity: FloatArray
    saving: float
    kept: BoolArray
    hosting: Hosting
    budget: float


def start_walk(model: LoadModel, graph: sparse.csr_array, unit_of: IntArray, target: IntArray, prices: Prices) -> Walk:
    """A walk of units; every unit's key groups share today's node and their target; both arrays are (n_groups,)."""
    units = contracted(model, unit_of, prices.cost)
    n_units = units.n_groups
    walk = Walk(
        graph=contract(graph, unit_of, n_units),
        node_of=units.node_of.copy(),
        target=target[np.unique(unit_of, return_index=True)[1]],
        load=units.load,
        cost=units.migration_cost_s,
        gain=np.zeros(n_units),
        node_load=sums(model.node_of, model.load, model.n_nodes),
        capacity=model.capacity,
        saving=model.traffic_load_ratio,
        kept=~model.marked,
        hosting=hosting_of(units),
        budget=prices.limit,
    )
    edges = edges_of(walk.graph)
    walk.gain = sums(edges.row, _pull(walk, edges.row, walk.node_of[edges.col]) * edges.value, n_units)
    return walk


def _pull(walk: Walk, units: IntArray, where: IntArray) -> FloatArray:
    """+1 where a neighbour at `where` is at the unit's target, -1 where it is at the unit's node of today."""
    here = walk.node_of[units] == where
    there = walk.target[units] == where
    return np.asarray(there, dtype=np.float64) - np.asarray(here, dtype=np.float64)


def walk_towards(walk: Walk, bands: tuple[float, ...], expired: Callable[[], bool]) -> IntArray:
    """Moves units while budget and time last, within the narrowest band of load distance that has a move left.

    Units on marked nodes go first. Returns the node of each unit, (n_units,). A node already outside the band may only
    come nearer to it.
    """
    pending = walk.node_of != walk.target
    for band in bands:
        while not expired():
            chosen = _next_unit(walk, pending, band)
            if chosen is None:
                break
            _move(walk, chosen)
            pending[chosen] = False
    return walk.node_of


def _next_unit(walk: Walk, pending: BoolArray, band: float) -> int | None:
    units = np.flatnonzero(pending & (walk.cost <= walk.budget * (1.0 + 1e-12)))
    units = units[_within(walk, units, band)]
    units = units[walk.hosting.takes(units, walk.target[units])]
    if units.size == 0:
        return None
    drained = units[~walk.kept[walk.node_of[units]]]
    units = drained if drained.size else units
    worth = walk.gain[units] / np.maximum(walk.cost[units], 1e-9)
    use = walk.node_load / walk.capacity
    relief = use[walk.node_of[units]] - use[walk.target[units]]
    best = np.flatnonzero(worth == worth.max())
    return int(units[best[np.argmax(relief[best])]])


def _within(walk: Walk, units: IntArray, band: float) -> BoolArray:
    """True where moving the unit keeps both nodes within the band of the mean, or nearer to it than before."""
    source, target, load = walk.node_of[units], walk.target[units], walk.load[units]
    mean = float(walk.node_load.sum()) / float(walk.capacity[walk.kept].sum())
    low_after = mean - (walk.node_load[source] - load) / walk.capacity[source]
    high_after = (walk.node_load[target] + load) / walk.capacity[target] - mean
    source_fits = (low_after <= band) | ~walk.kept[source]
    return np.asarray(source_fits & (high_after <= band), dtype=np.bool_)


def _move(walk: Walk, unit: int) -> None:
    source, target = int(walk.node_of[unit]), int(walk.target[unit])
    others, weight = neighbours(walk.graph, unit)
    arrived, left = np.full(others.size, target), np.full(others.size, source)
    walk.gain[others] += weight * (_pull(walk, others, arrived) - _pull(walk, others, left))
    walk.hosting.move(unit, source, target)
    walk.node_of[unit] = target
    walk.node_load[source] -= walk.load[unit]
    walk.node_load[target] += walk.load[unit]
    walk.budget -= float(walk.cost[unit])
    if walk.saving > 0.0:
        _save(walk, unit, source, target)


def _save(walk: Walk, unit: int, source: int, target: int) -> None:
    """Loads of the unit and its neighbours after it went from source to target."""
    others, weight = neighbours(walk.graph, unit)
    there, here = walk.node_of[others] == target, walk.node_of[others] == source
    saved = walk.saving * weight * (there.astype(np.float64) - here.astype(np.float64))
    walk.load[others] -= saved
    walk.load[unit] -= float(saved.sum())
    walk.node_load[target] -= float(saved.sum()) + float(saved[there].sum())
    walk.node_load[source] -= float(saved[here].sum())
