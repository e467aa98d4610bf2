"""Load that must move, against the number of groups that may: every group leaves one node and arrives at one."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import FloatArray
from streamjob_planners.proof.setting import SLACK, Bands, Setting


class TooManyMoves:
    """Marked nodes cannot send, all givers cannot give, or too many groups must leave or arrive."""

    def __init__(self, setting: Setting) -> None:
        problem = setting.problem
        self._setting = setting
        self._own_sums = _padded_sums(setting)
        self._all_sums = np.sort(problem.model.load[problem.movable])[::-1].cumsum()
        leaving = problem.movable & problem.model.marked[problem.model.node_of]
        self._marked_sums = np.append(0.0, np.sort(problem.model.load[leaving])[::-1].cumsum())

    def refutes(self, bands: Bands) -> bool:
        """Whether the moves allowed are too few."""
        return self._too_little_shipped(bands) or self._too_little_given(bands) or self._too_many(bands)

    def _too_little_shipped(self, bands: Bands) -> bool:
        """Marked nodes cannot send what the others lack together."""
        staying = self._setting.problem.open_nodes
        lack = float(bands.low[staying].sum() - self._setting.loads[staying].sum())
        most = self._marked_sums[int(min(self._setting.most_moves, self._marked_sums.size - 1))]
        return lack > float(most) * (1 + SLACK) + SLACK

    def _too_little_given(self, bands: Bands) -> bool:
        """Even the heaviest groups of all givers do not make up for what is lacking."""
        needed = float(bands.lack.sum())
        if needed <= 0:
            return False
        loads = self._setting.loads
        can_give = np.where(self._setting.problem.open_nodes, np.maximum(0.0, loads - bands.low), loads)
        given = np.minimum(self._own_sums, can_give[:, None])
        steps = np.diff(given, axis=1, prepend=0.0).ravel()
        count = int(min(self._setting.most_moves, steps.size))
        most = np.partition(steps, steps.size - count)[steps.size - count :] if count else steps[:0]
        return bool(most.sum() * (1 + SLACK) < needed)

    def _too_many(self, bands: Bands) -> bool:
        """The fewest groups that cover all excesses, or fill all that lack, are more than may move."""
        nodes = np.flatnonzero(bands.excess)
        covered = self._own_sums[nodes] >= bands.excess[nodes, None] * (1 - SLACK)
        if not covered[:, -1].all() or float(covered.argmax(axis=1).sum() + nodes.size) > self._setting.most_moves:
            return True
        needed = bands.lack[bands.lack > 0] * (1 - SLACK)
        counts = np.searchsorted(self._all_sums, needed) + 1
        return bool((counts > self._all_sums.size).any() or float(counts.sum()) > self._setting.most_moves)


def _padded_sums(setting: Setting) -> FloatArray:
    """Cumulated loads per node, heaviest first, the last sum repeated to one width, (n_nodes, width)."""
    held = np.diff(setting.edges)
    loads = np.zeros((held.size, max(1, int(held.max(initial=0)))))
    row = np.repeat(np.arange(held.size), held)
    loads[row, np.arange(setting.by_node.size) - setting.edges[row]] = setting.problem.model.load[setting.by_node]
    sums: FloatArray = loads.cumsum(axis=1)
    return sums
