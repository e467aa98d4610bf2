"""Mending: swaps that bring the worst nodes nearer to the mean when no plan of one round can lower the load distance.

The load distance is a maximum: where more nodes are at it than a budget can mend, every plan of one round looks
worthless and a solver that minimises it holds for ever. Mending the worst nodes one by one gets there in a few rounds.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel
from streamjob_planners.units import Prices, one_price

_MOST_ITEMS = 20_000
"""A node's items are compared with all others; beyond this it would take longer than a round has."""


def mended(model: LoadModel, budget: float, tolerance: float, price_per_move: float) -> IntArray:
    """The node of each item, (n_groups,): every step lowers the worse of two nodes' distances to the mean.

    Prices are `model.migration_cost_s`. A step must gain `price_per_move` points for each of its moves. Nodes within
    `tolerance` of the mean are left alone.
    """
    if model.n_groups > _MOST_ITEMS or model.marked[model.node_of].any():
        return model.node_of.copy()
    ledger = Ledger(one_price(model, Prices(cost=model.migration_cost_s, limit=budget)))
    free, hopeless = ~model.pinned, model.marked.copy()
    while True:
        apart = np.where(hopeless, 0.0, np.abs(ledger.utilisation() - ledger.problem.mean))
        worst = int(np.argmax(apart))
        if apart[worst] <= tolerance:
            return ledger.node_of
        hopeless[worst] = not _mend(ledger, free, worst, price_per_move)


def _mend(ledger: Ledger, free: BoolArray, node: int, price_per_move: float) -> bool:
    """The best swap or move between one node and all others; False when nothing is worth it."""
    node_of = ledger.node_of
    mine = np.append(np.flatnonzero((node_of == node) & free), -1)
    others = np.flatnonzero((node_of != node) & free & ~ledger.problem.model.marked[node_of])
    gain = _gains(ledger, node, mine, others) - price_per_move * (1.0 + (mine >= 0))[:, None]
    for flat in np.argsort(-gain, axis=None)[:20]:
        row, column = divmod(int(flat), others.size)
        if gain[row, column] <= 1e-9:
            return False
        if _swap(ledger, free, int(mine[row]), int(others[column]), node):
            return True
    return False


def _gains(ledger: Ledger, node: int, mine: IntArray, others: IntArray) -> FloatArray:
    """How much the worse of both distances falls if mine (-1: nothing) goes for others, (n_mine, n_others)."""
    model, use, mean = ledger.problem.model, ledger.utilisation(), ledger.problem.mean
    load, cost = np.append(model.load, 0.0), np.append(model.migration_cost_s, 0.0)
    theirs = ledger.node_of[others]
    change = model.load[others][None, :] - load[mine][:, None]
    here = np.abs(use[node] + change / model.capacity[node] - mean)
    there = np.abs(use[theirs][None, :] - change / model.capacity[theirs][None, :] - mean)
    before = np.maximum(abs(use[node] - mean), np.abs(use[theirs] - mean)[None, :])
    left = ledger.problem.allowances[0] - ledger.spent[0]
    affordable = cost[mine][:, None] + cost[others][None, :] <= left
    return np.where(affordable, before - np.maximum(here, there), -np.inf)


def _swap(ledger: Ledger, free: BoolArray, mine: int, other: int, node: int) -> bool:
    """Makes the exchange if both nodes may take what comes; False otherwise."""
    legs = [(other, node)] if mine < 0 else [(other, node), (mine, int(ledger.node_of[other]))]
    if not all(ledger.fits(item, target) for item, target in legs):
        return False
    for item, target in legs:
        ledger.move(item, target)
        free[item] = False
    return True
