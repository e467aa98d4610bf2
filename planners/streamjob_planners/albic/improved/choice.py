"""Which target to walk to: gather the pairs that count, or cut all traffic anew, whichever pays more per move."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners import measures
from streamjob_planners.acceptance import permitted
from streamjob_planners.albic.improved.settle import relabel, settle, start_settling
from streamjob_planners.albic.improved.target import Pieces, nearest_target, pieces_of
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.albic.step_2_maintain import SetLimits, components, split_sets
from streamjob_planners.albic.task import Task
from streamjob_planners.collocation.graph import contract, local_traffic
from streamjob_planners.collocation.partition import balanced_parts, metis_installed
from streamjob_planners.model import IntArray, LoadModel

_SETTLE_CELLS = 4_000_000
"""Largest table of pieces and nodes that swaps are worked out on."""
_OWN_PARTITIONER_PIECES = 2_000
"""Our own partitioner takes time with the square of the pieces."""
_METIS_EDGES_PER_S = 1_000_000
"""A careful guess of what METIS cuts in a second."""
_STAY_RATIO = 0.02
"""What staying is worth in a target: a tie-break, a fiftieth of a key group's mean traffic."""
_SWAP_PASSES = 6
_CUT_UNTIL = 0.3
"""Share of the time after which no cut is begun."""
_SETTLE_UNTIL = 0.6
"""Share of the time after which swaps stop, so that the walk has its own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """A placement to walk to.

    Attributes:
        node_of: (n_groups,).
        gain: part of all traffic that becomes local on the way, below 0 where more becomes remote.
        moved: part of the key groups that is on the way, 0 to 1.
        gathers: True where pairs that count are gathered, False where all traffic is cut anew.
    """

    node_of: IntArray
    gain: float
    moved: float
    gathers: bool


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Ground:
    """What every candidate is made from; the graphs are undirected, `total` is all that is sent; bytes/s."""

    model: LoadModel
    graph: sparse.csr_array
    piece_graph: sparse.csr_array
    pieces: Pieces
    total: float


def choose_target(
    task: Task, model: LoadModel, graph: sparse.csr_array, pairs: Pairs, settings: AlbicSettings
) -> Target | None:
    """The candidate with the most traffic gained per key group moved; None when none is worth its moves."""
    piece_of = _pieces_within_a_node(task, model, pairs)
    pieces = pieces_of(model, piece_of, task.prices.cost)
    ground = _Ground(
        model=model,
        graph=graph,
        piece_graph=contract(graph, piece_of, pieces.load.size),
        pieces=pieces,
        total=float(measures.sent_bps(model).sum()),
    )
    candidates = enumerate(_candidates(task, ground))
    return best_of([_judged(ground, node_of, gathers=number == 0) for number, node_of in candidates], settings)


def best_of(targets: list[Target], settings: AlbicSettings) -> Target | None:
    """The target with the most traffic gained per key group moved; None when none is worth its moves.

    One of them must gain enough to start walking at all; the one that is walked to may be another, which gains less
    with far fewer moves: the last pairs are gathered before all traffic is cut anew.
    """
    paying = [one for one in targets if one.gain > 0.0 and one.gain >= settings.move_price_ratio * one.moved]
    if all(one.gain < settings.least_gain_ratio for one in paying):
        return None
    return max(paying, key=lambda one: one.gain / one.moved)


def _pieces_within_a_node(task: Task, model: LoadModel, pairs: Pairs) -> IntArray:
    """Everything that pairs link, cut where it is more than a mean node holds within half the load distance."""
    room = measures.mean_utilisation(model) + task.params.max_load_distance / 2.0
    limits = SetLimits(max_load=room * float(np.median(model.capacity)), max_cost=float("inf"))
    return split_sets(model, components(pairs, model.n_groups), pairs, task.prices.cost, limits)


def _candidates(task: Task, ground: _Ground) -> list[IntArray]:
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


def _can_cut(task: Task, ground: _Ground) -> bool:
    """Whether cutting all traffic anew can be done in the time left, and swaps after it in memory."""
    if ground.pieces.load.size * ground.model.n_nodes > _SETTLE_CELLS:
        return False
    if not metis_installed():
        return ground.pieces.load.size <= _OWN_PARTITIONER_PIECES
    return ground.piece_graph.nnz < _METIS_EDGES_PER_S * task.left_s()


def _settled(task: Task, ground: _Ground, node_of_piece: IntArray, band: float) -> IntArray:
    """Key groups' nodes after swaps towards today's owners."""
    model, pieces = ground.model, ground.pieces
    mean = measures.mean_utilisation(model)
    limits = np.stack([(mean - band) * model.capacity, (mean + band) * model.capacity])
    stay_worth = pieces.overlap.toarray() / max(float(task.prices.cost.mean()), 1e-12)
    stay_worth *= _STAY_RATIO * ground.total / model.n_groups
    stay_worth[:, model.marked] = 0.0
    state = start_settling(ground.piece_graph, node_of_piece, pieces.load, stay_worth, limits)
    return settle(state, _SWAP_PASSES, lambda: task.past(_SETTLE_UNTIL))[pieces.of_group]


def _judged(ground: _Ground, node_of: IntArray, *, gathers: bool) -> Target:
    won = local_traffic(ground.graph, node_of) - local_traffic(ground.graph, ground.model.node_of)
    moved = float(np.count_nonzero(node_of != ground.model.node_of)) / ground.model.n_groups
    gain = won / ground.total if ground.total > 0.0 else 0.0
    return Target(node_of=node_of, gain=gain, moved=moved, gathers=gathers)
