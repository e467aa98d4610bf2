"""Where every key group should end up if moving were free, chosen near where it is now.

The paper pulls one pair together a round and so needs hundreds of rounds. Here pieces (sets of key groups that talk to
each other, cut by the partitioner to what one node can hold) get nodes so that the most stays where it is: large ones
by an assignment of greatest overlap, small ones one after the other. `walk` then goes there at the budget's pace.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from streamjob_planners.arrays import neighbours, sums
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel

_LARGE_SHARE = 0.5
"""A piece of more than this share of a mean node is placed by assignment."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pieces:
    """Sets of key groups that should share a node.

    Attributes:
        of_group: piece of each key group, (n_groups,).
        load: percent points, (n_pieces,).
        overlap: migration cost that stays unspent when the piece goes to the node, sparse (n_pieces, n_nodes).
        size: number of key groups, (n_pieces,).
    """

    of_group: IntArray
    load: FloatArray
    overlap: sparse.csr_array
    size: IntArray


def pieces_of(model: LoadModel, of_group: IntArray, cost: FloatArray) -> Pieces:
    """Pieces with what each has on each node; pinned key groups hold their piece with a weight above all others."""
    n_pieces = int(of_group.max(initial=-1)) + 1
    finite = np.where(np.isfinite(cost), np.maximum(cost, 1e-9), 1.0)
    weight = np.where(model.pinned, float(finite.sum()) + 1.0, finite)
    held = sparse.coo_array((weight, (of_group, model.node_of)), shape=(n_pieces, model.n_nodes))
    return Pieces(
        of_group=of_group,
        load=sums(of_group, model.load, n_pieces),
        overlap=sparse.csr_array(held),
        size=np.bincount(of_group, minlength=n_pieces).astype(np.int64),
    )


def nearest_target(model: LoadModel, pieces: Pieces, load_distance: float) -> IntArray:
    """A node for each key group: pieces whole, nodes at most `load_distance` over the mean where pieces allow it."""
    mean = float(model.load.sum()) / float(model.capacity[~model.marked].sum())
    room = np.where(model.marked, 0.0, (mean + load_distance) * model.capacity)
    node_of_piece = np.full(pieces.load.size, -1, dtype=np.int64)
    large = pieces.load > _LARGE_SHARE * mean * float(np.median(model.capacity))
    _place_large(pieces, np.flatnonzero(large), room, node_of_piece, model.marked)
    small = np.flatnonzero(~large)
    order = small[np.lexsort((small, -pieces.load[small], pieces.size[small] == 1))]
    _place_small(pieces, order, room, node_of_piece, model.marked)
    return node_of_piece[pieces.of_group]


def _place_large(pieces: Pieces, large: IntArray, room: FloatArray, node_of: IntArray, marked: BoolArray) -> None:
    """In waves of one piece a node, heaviest first: greatest overlap among the nodes that have room."""
    order = large[np.lexsort((large, -pieces.load[large]))]
    nodes = np.flatnonzero(~marked)
    for begin in range(0, order.size, nodes.size):
        wave = order[begin : begin + nodes.size]
        over = np.maximum(pieces.load[wave][:, None] - room[nodes][None, :], 0.0)
        stays = pieces.overlap[wave].toarray()[:, nodes]
        rows, cols = linear_sum_assignment(over * (1.0 + float(stays.sum())) - stays)
        node_of[wave[rows]] = nodes[cols]
        np.subtract.at(room, nodes[cols], pieces.load[wave[rows]])


def _place_small(pieces: Pieces, order: IntArray, room: FloatArray, node_of: IntArray, marked: BoolArray) -> None:
    """One after the other: the node that already holds the most and has room, else the one with the most room."""
    open_room = np.where(marked, -np.inf, room)
    for piece in order.tolist():
        nodes, holds = neighbours(pieces.overlap, piece)
        fits = open_room[nodes] >= pieces.load[piece]
        nodes, holds = nodes[fits], holds[fits]
        node = int(nodes[np.lexsort((-open_room[nodes], -holds))[0]]) if nodes.size else int(np.argmax(open_room))
        node_of[piece] = node
        open_room[node] -= pieces.load[piece]
