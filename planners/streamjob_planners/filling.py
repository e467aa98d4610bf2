"""What empty nodes get where nobody knows any load: as many key groups of each operator as the other nodes have."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import BoolArray, IntArray, LoadModel


def fill_by_count(model: LoadModel, takers: BoolArray, most: int | None = None) -> IntArray:
    """Where key groups are once `takers`, (n_nodes,), unmarked nodes, have their share; (n_groups,).

    Key groups move to takers alone, `most` of them in all (None: any number), and only from unmarked nodes that have
    more of their operator, or as many and more in all. Pinned ones stay.
    """
    node_of = model.node_of.copy()
    givers = ~model.marked & ~takers
    if not takers.any() or not givers.any():
        return node_of
    operator = np.array([one.operator for one in model.group_ids], dtype=np.int64)
    every = np.bincount(node_of, minlength=model.n_nodes)
    left = model.n_groups if most is None else most
    for one in np.unique(operator).tolist():
        rows = np.flatnonzero((operator == one) & ~model.pinned)
        held = {node: rows[node_of[rows] == node].tolist() for node in np.flatnonzero(givers).tolist()}
        own = np.bincount(node_of[operator == one], minlength=model.n_nodes)
        while left > 0:
            giver = max((node for node, groups in held.items() if groups), key=lambda n: (own[n], every[n]), default=-1)
            taker = min(np.flatnonzero(takers).tolist(), key=lambda n: (own[n], every[n]))
            if giver < 0 or not _helps(own[giver] - own[taker], every[giver] - every[taker]):
                break
            node_of[held[giver].pop()] = taker
            for counts in (own, every):
                counts[giver] -= 1
                counts[taker] += 1
            left -= 1
    return node_of


def _helps(more_of_operator: int, more: int) -> bool:
    """Whether a move makes two nodes more alike."""
    return more_of_operator >= 2 or (more_of_operator == 1 and more >= 2)
