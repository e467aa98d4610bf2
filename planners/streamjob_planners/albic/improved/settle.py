"""A graph partition on nodes brought nearer to today by swaps, so that fewer key groups move.

A partitioner's labels mean nothing, and many partitions cut the same traffic. Among them the nearest to today's owners
is wanted: it costs least, and planning again next round finds the same one instead of a new one.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
from scipy import sparse

from streamjob_planners.arrays import neighbours, sums
from streamjob_planners.collocation.graph import affinity
from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(slots=True, kw_only=True)
class Settling:
    """State of the swaps: pieces, where they are to go, and what each is worth on each node.

    Attributes:
        graph: traffic between pieces, symmetric, (n_pieces, n_pieces).
        node_of: node of each piece, (n_pieces,).
        load: percent points, (n_pieces,).
        worth: traffic with the pieces of each node plus the value of staying, (n_pieces, n_nodes).
        wish: the node where most of the piece is today, (n_pieces,).
        node_load: percent points, (n_nodes,).
        limits: lowest and highest load of each node, (2, n_nodes).
    """

    graph: sparse.csr_array
    node_of: IntArray
    load: FloatArray
    worth: FloatArray
    wish: IntArray
    node_load: FloatArray
    limits: FloatArray


def start_settling(
    graph: sparse.csr_array, node_of: IntArray, load: FloatArray, stay_worth: FloatArray, limits: FloatArray
) -> Settling:
    """`stay_worth`, (n_pieces, n_nodes): bytes/s that leaving the piece on the node is worth."""
    n_nodes = stay_worth.shape[1]
    return Settling(
        graph=graph,
        node_of=node_of.copy(),
        load=load,
        worth=affinity(graph, node_of, n_nodes) + stay_worth,
        wish=np.argmax(stay_worth, axis=1).astype(np.int64),
        node_load=sums(node_of, load, n_nodes),
        limits=limits,
    )


def settle(state: Settling, max_passes: int, expired: Callable[[], bool]) -> IntArray:
    """Swaps and single moves towards today's nodes while the sum of worth grows; the node of each piece."""
    for _ in range(max_passes):
        changed = 0
        for piece in np.flatnonzero(state.node_of != state.wish):
            if expired():
                return state.node_of
            changed += _improve(state, int(piece))
        if changed == 0:
            break
    return state.node_of


def _improve(state: Settling, piece: int) -> int:
    """The best move or swap of one piece to the node it wishes; 1 if it was made."""
    here, there = int(state.node_of[piece]), int(state.wish[piece])
    if here == there:
        return 0
    alone = state.worth[piece, there] - state.worth[piece, here]
    others = np.flatnonzero(state.node_of == there)
    gain = alone + state.worth[others, here] - state.worth[others, there] - 2.0 * _links(state, piece)[others]
    gain = np.append(np.where(_fits(state, piece, state.load[others]), gain, -np.inf), -np.inf)
    if _fits(state, piece, np.zeros(1))[0]:
        gain[-1] = alone
    best = int(np.argmax(gain))
    if gain[best] <= 1e-9:
        return 0
    _place(state, piece, there)
    if best < others.size:
        _place(state, int(others[best]), here)
    return 1


def _links(state: Settling, piece: int) -> FloatArray:
    """Traffic of one piece with every other, (n_pieces,)."""
    links = np.zeros(state.load.size)
    others, weight = neighbours(state.graph, piece)
    links[others] = weight
    return links


def _fits(state: Settling, piece: int, back: FloatArray) -> FloatArray:
    """True where both nodes keep their limits, or their sum of excess does not grow, when `back` returns for piece."""
    here, there = state.node_of[piece], state.wish[piece]
    change = state.load[piece] - back
    before = _excess(state, here, np.zeros(1)) + _excess(state, there, np.zeros(1))
    after = _excess(state, here, -change) + _excess(state, there, change)
    return np.asarray(after <= before + 1e-9)


def _excess(state: Settling, node: int, change: FloatArray) -> FloatArray:
    load = state.node_load[node] + change
    return np.asarray(np.maximum(load - state.limits[1, node], 0.0) + np.maximum(state.limits[0, node] - load, 0.0))


def _place(state: Settling, piece: int, node: int) -> None:
    old = int(state.node_of[piece])
    others, weight = neighbours(state.graph, piece)
    state.worth[others, old] -= weight
    state.worth[others, node] += weight
    state.node_of[piece] = node
    state.node_load[old] -= state.load[piece]
    state.node_load[node] += state.load[piece]
