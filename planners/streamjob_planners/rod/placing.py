"""ROD, and its two heuristics each alone (sections 4.2 and 4.3, figure 4.9)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.distance import plane_distances
from streamjob_planners.rod.linear import LinearModel

SLACK = 1e-9
"""Rounding that a weight may show above 1 and still count as 1."""

Pick = Callable[[FloatArray], int]
"""From every node's weights if it were chosen, (n_nodes, n_sources), to the node."""


def rod(model: LinearModel, lowest: FloatArray | None = None, held: FloatArray | None = None) -> IntArray:
    """The node of each operator by ROD, (n_operators,).

    Operators go by falling norm. A Class I node, all of whose weights stay at most 1, costs no feasible set; any may be
    chosen, here the one whose plane then is farthest. Else the Class II node whose plane stays farthest: the text's
    maximum, where the listing of figure 4.9 has a minimum. An operator without load goes to the node with the fewest.

    Args:
        model: loads and capacities.
        lowest: normalised rates below which nothing is, (n_sources,) (section 4.4.1).
        held: weights of what is on the nodes already, as `LinearModel.node_weights`, (n_nodes, n_sources).
    """

    def pick(weights: FloatArray) -> int:
        first_class = (weights <= 1.0 + SLACK).all(axis=1)
        distance = plane_distances(weights, lowest)
        return int(np.argmax(np.where(first_class == first_class.any(), distance, -np.inf)))

    return _greedy(model, pick, held)


def mmad(model: LinearModel) -> IntArray:
    """MaxMin axis distance alone (section 4.2.1): the node whose heaviest weight stays least, (n_operators,)."""
    return _greedy(model, lambda weights: int(np.argmin(weights.max(axis=1))), None)


def mmpd(model: LinearModel, lowest: FloatArray | None = None) -> IntArray:
    """MaxMin plane distance alone (section 4.2.2): the node whose plane stays farthest, (n_operators,)."""
    return _greedy(model, lambda weights: int(np.argmax(plane_distances(weights, lowest))), None)


def _greedy(model: LinearModel, pick: Pick, held: FloatArray | None) -> IntArray:
    parts, share = model.operator_weights(), model.capacity_share[:, None]
    weights = np.zeros((model.n_nodes, parts.shape[1])) if held is None else held.copy()
    node_of, count = np.zeros(len(parts), dtype=np.int64), np.zeros(model.n_nodes)
    for operator in np.argsort(-(parts**2).sum(axis=1), kind="stable").tolist():
        idle = not parts[operator].any()
        after = weights + parts[operator] / share
        node = int(np.argmin(count / model.capacity)) if idle else pick(after)
        node_of[operator], weights[node] = node, after[node]
        count[node] += 1
    return node_of
