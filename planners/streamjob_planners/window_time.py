"""The time that the loads of each window take at a placement: the slowest node of each level, level after level.

Means of many windows hide what swings: a node that is hot in every second window is waited for in each of these.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.model import LoadModel


class WindowTime:
    """Of one placement, `node_of`, (n_groups,); times are parts of a window."""

    def __init__(self, model: LoadModel, node_of: IntArray) -> None:
        levels = np.zeros(model.n_groups, dtype=np.int64) if model.batch is None else model.batch.level
        self._n_levels = int(levels.max(initial=0)) + 1
        self._cell = node_of * self._n_levels + levels
        self.capacity = 100.0 * model.capacity

    def by_node(self, loads: FloatArray) -> FloatArray:
        """Of each row of loads, percent points, (n_rows, n_groups): each node's, (n_rows, n_nodes, n_levels)."""
        n_nodes = self.capacity.size
        sums = [np.bincount(self._cell, row, n_nodes * self._n_levels) for row in loads]
        found: FloatArray = np.stack(sums).reshape(len(loads), n_nodes, self._n_levels) / self.capacity[:, None]
        return found

    def taken(self, loads: FloatArray) -> FloatArray:
        """Of each row of loads, (n_rows, n_groups): (n_rows,)."""
        return slowest(self.by_node(loads))


def slowest(by_node: FloatArray) -> FloatArray:
    """The slowest node of each level, added up: (n_rows, n_nodes, n_levels) to (n_rows,)."""
    found: FloatArray = by_node.max(axis=1).sum(axis=1)
    return found
