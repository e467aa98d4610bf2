"""What a search for shorter batches aims at: the sum of the levels, then the root mean squares of their nodes."""

from __future__ import annotations

import numpy as np

from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.cells import busy_s, ends_s
from streamjob_planners.engine import Engine
from streamjob_planners.kernel.state import Fixed
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

SPREAD = 0.7
"""Standard deviation of the logarithm by which the levels' shares of what is to be won differ from today's."""
SAME = 1e-9
"""Part of a batch by which two count as equally long."""


class BatchTime:
    """Seconds of all levels, and of the pauses that their moves must pay back."""

    def __init__(self, problem: Problem, fixed: Fixed, floors: FloatArray, toll: float) -> None:
        """`floors`: seconds below which no level comes, (n_levels,); `toll`: what a second of pause must gain."""
        self._problem, self._fixed, self._floors, self.toll = problem, fixed, floors, toll
        self._vacant = empty_nodes(problem.model)

    def levels_s(self, node_of: IntArray) -> FloatArray:
        """Length of each level, (n_levels,)."""
        longest: FloatArray = ends_s(self._fixed, node_of).max(axis=1)
        return longest

    def price_s(self, node_of: IntArray) -> float:
        """Seconds of a batch that the moves must gain; those to nodes that have nothing today need not."""
        if self.toll <= 0.0:
            return 0.0
        model = self._problem.model
        paid = (node_of != model.node_of) & ~self._vacant[node_of]
        return self.toll * float(self._problem.prices[paid, 0].sum())

    def reached(self, node_of: IntArray) -> float:
        """All levels, one after the other, and the price of the moves."""
        return float(self.levels_s(node_of).sum()) + self.price_s(node_of)

    def set_bands(self, engine: Engine, target: float, best: IntArray) -> None:
        """Share out among the levels what is left above their floors, more or less as the best does."""
        slack = self.levels_s(best) - self._floors
        left = max(target - self.price_s(best) - float(self._floors.sum()), 0.0)
        share = np.maximum(slack, 1e-3 * slack.mean()) * np.exp(SPREAD * engine.rng.standard_normal(slack.size))
        total = float(share.sum())
        self.hold(engine, self._floors + (left * share / total if total > 0.0 else 0.0))

    def set_closer(self, engine: Engine, best: IntArray, part: float) -> None:
        """Let every level keep a part of what it is above its floor."""
        self.hold(engine, self._floors + part * (self.levels_s(best) - self._floors))

    def hold(self, engine: Engine, levels_s: FloatArray) -> None:
        """Let no cell of a level end later than that, seconds, (n_levels,)."""
        high = np.repeat(levels_s, self._problem.model.n_nodes) * self._fixed.capacity
        engine.set_bands(np.full_like(high, -np.inf), high, high)


class LevelSquares:
    """The second measure: root mean squares of the nodes' work per slot, summed over levels, while no batch gets
    longer."""

    def __init__(self, problem: Problem, time: BatchTime, fixed: Fixed, start: IntArray) -> None:
        """`start`: the placement whose batch must not get longer, (n_groups,)."""
        model = problem.model
        self._time, self._fixed = time, fixed
        self._kept_s = time.levels_s(start)
        self._staying = int(np.count_nonzero(~model.marked))
        self._n_nodes = model.n_nodes
        self._now = self._squares(start)

    @property
    def least_s(self) -> float:
        """What the measure goes below nowhere: all work shared out among all nodes by their slots."""
        fixed = self._fixed
        work = np.bincount(fixed.base[fixed.home], fixed.load, fixed.base.size)
        squares = np.bincount(fixed.base, fixed.capacity**2, fixed.base.size)
        shared = np.divide(work, np.sqrt(squares), out=np.zeros(work.size), where=squares > 0)
        return float(shared.sum()) / float(np.sqrt(self._staying))

    @property
    def heat(self) -> float:
        """What half of an ordinary group brings, when it goes to a cell without any, at most."""
        load, capacity = self._fixed.load, self._fixed.capacity
        grain = float(load.mean() / capacity.mean()) if load.size else 0.0
        return grain * grain * float(self._bend().max(initial=0.0))

    def reached(self, node_of: IntArray) -> float:
        """The measure and the price of the moves; inf when the batch would take longer."""
        if float(self._time.levels_s(node_of).sum()) > float(self._kept_s.sum()) * (1 + SAME):
            return np.inf
        return float(np.sqrt(self._squares(node_of)).sum()) + self._time.price_s(node_of)

    def set_bands(self, engine: Engine, target: float, best: IntArray) -> None:
        """Keep the length of every level, and let squares hurt."""
        high = np.repeat(self._kept_s * (1 + SAME), self._n_nodes) * self._fixed.capacity
        work = np.bincount(self._fixed.base[self._fixed.home], self._fixed.load, self._fixed.base.size)
        width = np.bincount(self._fixed.base, self._fixed.capacity * ~self._fixed.marked, self._fixed.base.size)
        middle = (work[self._fixed.base] / width[self._fixed.base]) * self._fixed.capacity
        engine.set_bands(np.full_like(high, -np.inf), high, np.minimum(middle, high))
        engine.state.bend[:] = np.repeat(self._bend(), self._n_nodes)

    def _bend(self) -> FloatArray:
        """By how much the measure grows with a cell's square, (n_levels,)."""
        rms = np.sqrt(self._now)
        bend: FloatArray = np.where(rms > 0.0, 0.5 / self._staying / np.maximum(rms, 1e-300), 0.0)
        return bend

    def _squares(self, node_of: IntArray) -> FloatArray:
        squares: FloatArray = (busy_s(self._fixed, node_of) ** 2).sum(axis=1) / self._staying
        return squares
