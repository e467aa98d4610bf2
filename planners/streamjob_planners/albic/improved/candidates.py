"""Placements that may be worth walking to: the pairs that count gathered, and all traffic cut anew."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from streamjob_planners import measures
from streamjob_planners.acceptance import permitted
from streamjob_planners.albic.improved.settle import settle, start_settling
from streamjob_planners.albic.improved.target import Pieces, nearest_target
from streamjob_planners.albic.task import Task
from streamjob_planners.collocation.partition import balanced_parts, metis_installed
from streamjob_planners.model import IntArray, LoadModel

_SETTLE_CELLS = 4_000_000
"""Largest table of pieces and nodes that swaps are worked out on."""
_OWN_PARTITIONER_PIECES = 2_000
"""Our own partitioner takes time with the square of the pieces."""
_METIS_EDGES_PER_S = 1_000_000
"""A careful guess of what METIS cuts in a second."""
_STAY_RATIO = 0.02
"""What staying is worth in a target: a tie-break, a fiftieth of the mean traffic of a key group in known pairs."""
_SWAP_PASSES = 6
_CUT_UNTIL = 0.3
"""Share of the time after which no cut is begun."""
_SETTLE_UNTIL = 0.6
"""Share of the time after which swaps stop, so that the walk has its own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What every candidate is made from; the graphs are undirected, `total` is all that is sent; bytes/s."""

    model: LoadModel
    graph: sparse.csr_array
    piece_graph: sparse.csr_array
    pieces: Pieces
    total: float


def candidates_of(task: Task, ground: Ground) -> list[IntArray]:
    """The pairs that count gathered, and, where there is time, all traffic cut anew."""
    band = task.params.max_load_distance / 4.0
    gathered = nearest_target(ground.model, ground.pieces, band)
    found = [gathered]
    if not task.past(_CUT_UNTIL) and _can_cut(task, ground):
        nodes = np.flatnonzero(~ground.model.marked)
        parts = balanced_parts(ground.piece_graph, ground.pieces.load, nodes.size, seed=0)
        cut = relabel(parts, ground.pieces.overlap, nodes)
        found.append(_settled(task, ground, cut, band))
    return [permitted(ground.model, node_of) for node_of in found]


def _can_cut(task: Task, ground: Ground) -> bool:
    """Whether cutting all traffic anew can be done in the time left, and swaps after it in memory."""
    if ground.pieces.load.size * ground.model.n_nodes > _SETTLE_CELLS:
        return False
    if not metis_installed():
        return ground.pieces.load.size <= _OWN_PARTITIONER_PIECES
    return ground.piece_graph.nnz < _METIS_EDGES_PER_S * task.left_s()


def _settled(task: Task, ground: Ground, node_of_piece: IntArray, band: float) -> IntArray:
    """Key groups' nodes after swaps towards today's owners."""
    model, pieces = ground.model, ground.pieces
    mean = measures.mean_utilisation(model)
    limits = np.stack([(mean - band) * model.capacity, (mean + band) * model.capacity])
    stay_worth = pieces.overlap.toarray() / max(float(task.prices.cost.mean()), 1e-12)
    stay_worth *= _STAY_RATIO * float(ground.graph.sum()) / 2.0 / model.n_groups
    stay_worth[:, model.marked] = 0.0
    state = start_settling(ground.piece_graph, node_of_piece, pieces.load, stay_worth, limits)
    return settle(state, _SWAP_PASSES, lambda: task.past(_SETTLE_UNTIL))[pieces.of_group]


def relabel(parts: IntArray, overlap: sparse.csr_array, nodes: IntArray) -> IntArray:
    """The node of each piece: parts mapped one to one on `nodes` so that the most stays where it is.

    `parts` (n_pieces,) holds 0 to nodes.size - 1; `overlap` is sparse (n_pieces, n_nodes).
    """
    of_part = sparse.csr_array((np.ones(parts.size), (parts, np.arange(parts.size))), shape=(nodes.size, parts.size))
    rows, cols = linear_sum_assignment(-(of_part @ overlap).toarray()[:, nodes])
    node_of_part = np.empty(nodes.size, dtype=np.int64)
    node_of_part[rows] = nodes[cols]
    return np.asarray(node_of_part[parts])
