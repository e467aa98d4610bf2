"""Step 2 of ALBIC: collocated key groups stay together as units, split where a unit would be too heavy.

Algorithm 2, lines 15 to 23. A unit is a list of key groups that move together or not at all.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.collocation.graph import undirected
from streamjob_planners.collocation.partition import balanced_parts
from streamjob_planners.model import FloatArray, IntArray, LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SetLimits:
    """How heavy a unit may be: the paper's maxPL in percent points, and maxMigrCost in any unit of cost."""

    max_load: float
    max_cost: float


def maintained(model: LoadModel, pairs: Pairs, cost: FloatArray, limits: SetLimits) -> IntArray:
    """Units of what is together today, none heavier or dearer than it may be, (n_groups,)."""
    together = pairs.where(pairs.collocated(model.node_of))
    return split_sets(model, components(together, model.n_groups), together, cost, limits)


def components(pairs: Pairs, n_groups: int) -> IntArray:
    """The paper's calcSets: key groups linked by a chain of pairs share a number, from 0 without gaps, (n_groups,)."""
    _, labels = connected_components(_pair_graph(pairs, n_groups), directed=False)
    return np.asarray(labels, dtype=np.int64)


def split_sets(model: LoadModel, sets: IntArray, pairs: Pairs, cost: FloatArray, limits: SetLimits) -> IntArray:
    """Units of key groups: each set whole where it keeps the limits, else in balanced parts, (n_groups,).

    `cost` is what moving each key group takes of the budget, (n_groups,). A key group that breaks a limit alone is a
    unit of its own.
    """
    load_of_set = np.bincount(sets, weights=model.load)
    cost_of_set = np.bincount(sets, weights=cost)
    heavy = (load_of_set > limits.max_load) | (cost_of_set > limits.max_cost)
    units = sets.copy()
    graph = _pair_graph(pairs, model.n_groups)
    next_unit = int(sets.max(initial=-1)) + 1
    for number in np.flatnonzero(heavy & (np.bincount(sets) > 1)):
        members = np.flatnonzero(sets == number)
        for part in _parts_within(graph, members, model.load, cost, limits):
            units[part] = next_unit
            next_unit += 1
    return np.unique(units, return_inverse=True)[1].astype(np.int64)


def _pair_graph(pairs: Pairs, n_groups: int) -> sparse.csr_array:
    """The traffic of the given pairs as an undirected graph, bytes/s, (n_groups, n_groups)."""
    one_way = sparse.coo_array((pairs.value, (pairs.first, pairs.second)), shape=(n_groups, n_groups))
    return undirected(sparse.csr_array(one_way))


def _parts_within(
    graph: sparse.csr_array, members: IntArray, load: FloatArray, cost: FloatArray, limits: SetLimits
) -> list[IntArray]:
    """Splits until every part keeps both limits or is one key group ("it may need to be applied again")."""
    todo, done = [members], []
    while todo:
        part = todo.pop()
        load_share = _times_over(float(load[part].sum()), limits.max_load)
        cost_share = _times_over(float(cost[part].sum()), limits.max_cost)
        worst = max(load_share, cost_share)
        if part.size == 1 or worst <= 1.0:
            done.append(part)
            continue
        weight = cost[part] if cost_share > load_share else load[part]
        count = int(min(np.ceil(min(worst, float(part.size))), part.size))
        labels = balanced_parts(graph[part][:, part], weight, max(count, 2), seed=int(part[0]))
        pieces = [part[labels == label] for label in np.unique(labels)]
        if len(pieces) == 1:
            pieces = [part[: part.size // 2], part[part.size // 2 :]]
        todo.extend(pieces)
    return done


def _times_over(amount: float, limit: float) -> float:
    """Amount over limit; a limit of 0 is exceeded by everything (maxPL = 0: one unit per key group)."""
    if limit <= 0.0:
        return np.inf
    return amount / limit
