"""Levelling: swaps that bring the worst nodes nearer to the mean when no plan of one round can lower the load distance.

The load distance is a maximum: where more nodes are at it than a budget can mend, every plan of one round looks
worthless and a solver that minimises it holds for ever. Mending the worst nodes one by one gets there in a few rounds.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import measures
from streamjob_planners.albic.hosting import Hosting, hosting_of
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel

_MOST_ITEMS = 20_000
"""Levelling compares a node's items with all others; beyond this it would take longer than a round has."""


@dataclasses.dataclass(slots=True, kw_only=True)
class _State:
    model: LoadModel
    hosting: Hosting
    node_of: IntArray
    use: FloatArray
    mean: float
    free: BoolArray
    budget: float


def levelled(model: LoadModel, budget: float, tolerance: float, price_per_move: float) -> IntArray:
    """The node of each item, (n_groups,): every step lowers the worse of two nodes' distances to the mean.

    Prices are `model.migration_cost_s`. A step must gain `price_per_move` points for each of its moves. Nodes within
    `tolerance` of the mean are left alone.
    """
    state = _State(
        model=model,
        hosting=hosting_of(model),
        node_of=model.node_of.copy(),
        use=measures.utilisation(model, model.node_of),
        mean=measures.mean_utilisation(model),
        free=~model.pinned,
        budget=budget,
    )
    if model.n_groups > _MOST_ITEMS or model.marked[model.node_of].any():
        return state.node_of
    hopeless = model.marked.copy()
    while True:
        apart = np.where(hopeless, 0.0, np.abs(state.use - state.mean))
        worst = int(np.argmax(apart))
        if apart[worst] <= tolerance:
            return state.node_of
        hopeless[worst] = not _mend(state, worst, price_per_move)


def _mend(state: _State, node: int, price_per_move: float) -> bool:
    """The best swap or move between one node and all others; False when nothing is worth it."""
    mine = np.append(np.flatnonzero((state.node_of == node) & state.free), -1)
    others = np.flatnonzero((state.node_of != node) & state.free & ~state.model.marked[state.node_of])
    gain = _gains(state, node, mine, others) - price_per_move * (1.0 + (mine >= 0))[:, None]
    for flat in np.argsort(-gain, axis=None)[:20]:
        row, column = divmod(int(flat), others.size)
        if gain[row, column] <= 1e-9:
            return False
        if _swap(state, int(mine[row]), int(others[column]), node):
            return True
    return False


def _gains(state: _State, node: int, mine: IntArray, others: IntArray) -> FloatArray:
    """How much the worse of both distances falls if mine (-1: nothing) goes for others, (n_mine, n_others)."""
    model = state.model
    load = np.append(model.load, 0.0)
    cost = np.append(model.migration_cost_s, 0.0)
    theirs = state.node_of[others]
    change = model.load[others][None, :] - load[mine][:, None]
    here = np.abs(state.use[node] + change / model.capacity[node] - state.mean)
    there = np.abs(state.use[theirs][None, :] - change / model.capacity[theirs][None, :] - state.mean)
    before = np.maximum(abs(state.use[node] - state.mean), np.abs(state.use[theirs] - state.mean)[None, :])
    affordable = cost[mine][:, None] + cost[others][None, :] <= state.budget
    return np.where(affordable, before - np.maximum(here, there), -np.inf)


def _swap(state: _State, mine: int, other: int, node: int) -> bool:
    """Makes the exchange if both nodes may take what comes; False otherwise."""
    source = int(state.node_of[other])
    legs = [(other, source, node)] if mine < 0 else [(other, source, node), (mine, node, source)]
    for item, _, target in legs:
        if not state.hosting.takes(np.array([item]), np.array([target]))[0]:
            return False
    for item, start, target in legs:
        state.hosting.move(item, start, target)
        state.node_of[item], state.free[item] = target, False
        state.use[start] -= state.model.load[item] / state.model.capacity[start]
        state.use[target] += state.model.load[item] / state.model.capacity[target]
        state.budget -= float(state.model.migration_cost_s[item])
    return True
