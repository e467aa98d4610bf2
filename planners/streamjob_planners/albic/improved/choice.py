"""Which target to walk to: gather the pairs that count, or cut all traffic anew, whichever pays more per move."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners import measures
from streamjob_planners.albic.improved.candidates import Ground, candidates_of
from streamjob_planners.albic.improved.target import pieces_of
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.albic.step_2_maintain import SetLimits, components, split_sets
from streamjob_planners.albic.task import Task
from streamjob_planners.collocation.graph import contract, local_traffic
from streamjob_planners.model import IntArray, LoadModel


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


def choose_target(
    task: Task, model: LoadModel, graph: sparse.csr_array, pairs: Pairs, settings: AlbicSettings
) -> Target | None:
    """The candidate with the most traffic gained per key group moved; None when none is worth its moves."""
    piece_of = _pieces_within_a_node(task, model, pairs)
    pieces = pieces_of(model, piece_of, task.prices.cost)
    ground = Ground(
        model=model,
        graph=graph,
        piece_graph=contract(graph, piece_of, pieces.load.size),
        pieces=pieces,
        total=float(measures.sent_bps(model).sum()),
    )
    candidates = enumerate(candidates_of(task, ground))
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


def _judged(ground: Ground, node_of: IntArray, *, gathers: bool) -> Target:
    won = local_traffic(ground.graph, node_of) - local_traffic(ground.graph, ground.model.node_of)
    moved = float(np.count_nonzero(node_of != ground.model.node_of)) / ground.model.n_groups
    gain = won / ground.total if ground.total > 0.0 else 0.0
    return Target(node_of=node_of, gain=gain, moved=moved, gathers=gathers)
