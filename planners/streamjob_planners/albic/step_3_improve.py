"""Step 3 of ALBIC: pull one pair of key groups and their units to one node (algorithm 2, lines 24 to 37)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.arrays import sums
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import IntArray, LoadModel
from streamjob_planners.units import Prices, one_price


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pull:
    """Two units that are to share a node, and the node."""

    first: int
    second: int
    node: int


def heaviest_pairs(pairs: Pairs, node_of: IntArray, rng: np.random.Generator) -> Pairs:
    """Pairs that are not together yet, heaviest first, equals in random order (the paper's toBeColGrps)."""
    apart = pairs.where(~pairs.collocated(node_of))
    order = np.lexsort((rng.permutation(len(apart)), -apart.value))
    return Pairs(first=apart.first[order], second=apart.second[order], value=apart.value[order])


def pull_for(model: LoadModel, unit_of: IntArray, pair: tuple[int, int]) -> Pull:
    """The paper's three cases: the node of the unit that is a set already, else the node with the smaller load."""
    first, second = int(unit_of[pair[0]]), int(unit_of[pair[1]])
    nodes = int(model.node_of[pair[0]]), int(model.node_of[pair[1]])
    sizes = np.bincount(unit_of)
    if (sizes[first] > 1) != (sizes[second] > 1):
        chosen = nodes[0] if sizes[first] > 1 else nodes[1]
    else:
        use = sums(model.node_of, model.load, model.n_nodes) / model.capacity
        chosen = nodes[0] if use[nodes[0]] <= use[nodes[1]] else nodes[1]
    if model.marked[chosen]:
        chosen = nodes[0] if chosen == nodes[1] else nodes[1]
    return Pull(first=first, second=second, node=chosen)


def pulled(model: LoadModel, unit_of: IntArray, pull: Pull, prices: Prices) -> IntArray | None:
    """The placement after the pull, (n_groups,); None when the budget, a pin or the node does not allow it."""
    ledger = Ledger(one_price(model, prices))
    for unit in (pull.first, pull.second):
        for group in np.flatnonzero((unit_of == unit) & (ledger.node_of != pull.node)).tolist():
            allowed = not model.pinned[group] and ledger.fits(group, pull.node)
            if not (allowed and ledger.move(group, pull.node)):
                return None
    return ledger.node_of
