"""The initial placers: spread evenly, resilient, by correlation."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.correlation.improve import THETA
from streamjob_planners.correlation.mapping import Mapping, mapping_of
from streamjob_planners.correlation.pairwise import EPSILON
from streamjob_planners.correlation.placing import cor_glb
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.placement.world import Placed, World
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.placing import rod


def spread(world: World) -> Placed:
    """As many key groups of every operator on every node as its capacity says; loads play no part."""
    node_of, count = np.zeros(world.n_groups, dtype=np.int64), np.zeros(world.n_nodes)
    for operator in np.unique(world.operator).tolist():
        own = np.zeros(world.n_nodes)
        for group in np.flatnonzero(world.operator == operator).tolist():
            node = int(np.lexsort((count / world.capacity, (own + 1) / world.capacity))[0])
            node_of[group] = node
            own[node] += 1
            count[node] += 1
    return Placed(node_of=node_of)


def resilient(world: World) -> Placed:
    """ROD (chapter 4), for loads that cannot be moved later.

    Where nobody knows the sources each operator's load is a variable of its own, as if every selectivity varied
    (section 4.4.2); where nobody knows the loads either, all groups of an operator have the same.
    """
    model = LinearModel(coefficients=_coefficients(world), capacity=world.capacity)
    known = world.coefficients is not None or world.series is not None
    notes = () if known else ("No load is known yet: all key groups of an operator count the same.",)
    return Placed(node_of=rod(model), notes=notes)


def by_correlation(world: World) -> Placed:
    """COR-GLB (section 5.2.2), for loads that can be moved later; sticky groups go first, by ROD (section 8.3)."""
    if world.series is None or world.series.shape[0] == 0:
        told = "No load series is known yet: key groups are spread evenly."
        return dataclasses.replace(spread(world), notes=(told,))
    mapping = _started(world, world.series.T)
    if world.sticky is not None and world.sticky.any():
        mapping.restore(_sticky_first(world, mapping.node_of))
        mapping.movable &= ~world.sticky
    cor_glb(mapping, EPSILON, THETA, None, lambda: False)
    return Placed(node_of=mapping.node_of)


def _started(world: World, series: FloatArray) -> Mapping:
    """Loads as parts of the capacity of nodes that are all equally used on average."""
    whole = float(series.sum(axis=0).mean()) / float(world.capacity.sum())
    scaled = np.ascontiguousarray(series / whole if whole > 0 else series)
    return mapping_of(scaled, np.zeros(world.n_groups, dtype=np.int64), world.capacity)


def _sticky_first(world: World, node_of: IntArray) -> IntArray:
    sticky = np.zeros(world.n_groups, dtype=np.bool_) if world.sticky is None else world.sticky
    placed = node_of.copy()
    placed[sticky] = rod(LinearModel(coefficients=_coefficients(world)[sticky], capacity=world.capacity))
    return placed


def _coefficients(world: World) -> FloatArray:
    """Those given, or one source per operator with the groups' mean loads, (n_groups, n_sources)."""
    if world.coefficients is not None:
        return world.coefficients
    known = world.series is not None and world.series.shape[0] > 0
    load = world.series.mean(axis=0) if known and world.series is not None else np.ones(world.n_groups)
    operators, own = np.unique(world.operator, return_inverse=True)
    table = np.zeros((world.n_groups, max(1, operators.size)))
    table[np.arange(world.n_groups), own] = load
    return table
