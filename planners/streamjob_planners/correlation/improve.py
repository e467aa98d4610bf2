"""Raising the correlation of node pairs that are balanced already (section 5.2.1, figure 5.5; 5.2.2, figure 5.7)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.correlation.mapping import Mapping, node_correlations, pair_correlation
from streamjob_planners.correlation.pairwise import Step
from streamjob_planners.correlation.twoway import redistribute
from streamjob_planners.model import BoolArray, FloatArray, IntArray

THETA = 0.8
"""Correlation below which a pair of nodes is worth improving (table 6.2)."""


def try_pair(mapping: Mapping, first: int, second: int, step: Step) -> bool:
    """Apply a two-way algorithm to a pair; undo it unless the correlation rises."""
    before, old = mapping.node_of.copy(), pair_correlation(mapping, first, second)
    step(mapping, first, second)
    if pair_correlation(mapping, first, second) > old:
        return True
    mapping.restore(before)
    return False


def divergent_levels(mapping: Mapping) -> FloatArray:
    """Mean plus standard deviation of load over capacity: above a full node it may be overloaded soon, (n_nodes,)."""
    relative = mapping.total / mapping.capacity[:, None]
    level: FloatArray = relative.mean(axis=1) + relative.std(axis=1)
    return level


def improve_overloaded(mapping: Mapping, theta: float, full: float, step: Step, stop: Callable[[], bool]) -> None:
    """Figure 5.5: a node that may be overloaded soon and its least correlated partner, if that is below `theta`.

    `full` is the use of a node that has no time left, in the unit of load over capacity (1, or 100 percent points).
    """
    nodes = np.flatnonzero(mapping.open_nodes)
    for node in nodes.tolist():
        if stop():
            return
        if divergent_levels(mapping)[node] <= full:
            continue
        table = node_correlations(mapping)[node]
        others = nodes[nodes != node]
        if others.size and table[others].min() < theta:
            try_pair(mapping, node, int(others[np.argmin(table[others])]), step)


def improve_all(mapping: Mapping, theta: float, rounds: int | None, stop: Callable[[], bool]) -> None:
    """Figure 5.7: the least correlated pair below `theta` first, each pair anew only after one of its nodes changed.

    Nothing is done where all pairs reach `theta` on average. At most n (n - 1) pairs are tried, or `rounds`.
    """
    nodes = np.flatnonzero(mapping.open_nodes)
    first, second = np.triu_indices(nodes.size, 1)
    first, second = nodes[first], nodes[second]
    table = node_correlations(mapping)[first, second]
    if table.size == 0 or table.mean() >= theta:
        return
    waiting = np.where(table < theta, table, np.inf)
    for _ in range(min(nodes.size * (nodes.size - 1), 2**31 if rounds is None else rounds)):
        at = int(np.argmin(waiting))
        if stop() or not np.isfinite(waiting[at]):
            return
        one, other = int(first[at]), int(second[at])
        if try_pair(mapping, one, other, redistribute):
            _update(waiting, node_correlations(mapping)[first, second], touched(first, second, one, other), theta)
        waiting[at] = np.inf


def touched(first: IntArray, second: IntArray, one: int, other: int) -> BoolArray:
    """True for the pairs that share a node with this one."""
    shared: BoolArray = (first == one) | (second == one) | (first == other) | (second == other)
    return shared


def _update(waiting: FloatArray, table: FloatArray, changed: BoolArray, theta: float) -> None:
    waiting[changed] = np.where(table[changed] < theta, table[changed], np.inf)
