"""Which of several equal nodes is which does not matter to a placement, but it decides how much must move.

COR-GLB looks at nobody's place of today. Where nodes are alike, the dissertation's plan is kept and only their names
are exchanged, so that the most load stays where it is.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import linear_sum_assignment

from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.model import BoolArray, IntArray


def rename(mapping: Mapping) -> None:
    """Exchange the names of alike nodes; nothing where there are further resources."""
    if len(mapping.uses):
        return
    node_of = mapping.node_of.copy()
    free = mapping.open_nodes & ~_held_fast(mapping)
    for capacity in np.unique(mapping.capacity[free]).tolist():
        nodes = np.flatnonzero(free & (mapping.capacity == capacity))
        _rename_alike(mapping, nodes, node_of)
    mapping.restore(node_of)


def _held_fast(mapping: Mapping) -> BoolArray:
    """True for nodes with operators that cannot move: no other node is like them, (n_nodes,)."""
    held = np.zeros(mapping.capacity.size, dtype=np.bool_)
    held[mapping.node_of[~mapping.movable]] = True
    return held


def _rename_alike(mapping: Mapping, nodes: IntArray, node_of: IntArray) -> None:
    """Changes `node_of` such that the most load, and then the most operators, keep their node of today."""
    place = np.full(mapping.capacity.size, -1)
    place[nodes] = np.arange(nodes.size)
    planned, today = place[mapping.node_of], place[mapping.home]
    both = (planned >= 0) & (today >= 0)
    stays = np.zeros((nodes.size, nodes.size))
    np.add.at(stays, (planned[both], today[both]), mapping.mean[both] + 1e-6)
    name = nodes[linear_sum_assignment(stays, maximize=True)[1]]
    ours = planned >= 0
    node_of[ours] = name[planned[ours]]
