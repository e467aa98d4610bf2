"""What a search can aim at: a distance, and the bands that mean it has been reached."""

from __future__ import annotations

from typing import Protocol

import numpy as np

from streamjob_planners import drain, measures
from streamjob_planners.engine import Engine
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem


class Aim(Protocol):
    """A distance to make small, and the bands that mean it has been reached."""

    def reached(self, node_of: IntArray) -> float:
        """The distance of a placement, percent points."""

    def set_bands(self, engine: Engine, target: float, best: IntArray) -> None:
        """Let an engine aim at that distance; `best`: the best placement so far, (n_groups,)."""


class Distance:
    """The MILP's d: all unmarked nodes near the mean, marked ones not above it."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def set_closer(self, engine: Engine, best: IntArray, part: float) -> None:
        """Bands between the tolerance and the distance of a placement."""
        floor = self._problem.params.tolerance
        engine.set_bands(*self.bands(floor + part * max(0.0, self.reached(best) - floor)))

    def reached(self, node_of: IntArray) -> float:
        """The stretch."""
        return drain.stretch(self._problem, node_of)

    def set_bands(self, engine: Engine, target: float, best: IntArray) -> None:
        """Let an engine aim at that distance."""
        engine.set_bands(*self.bands(target))

    def bands(self, target: float) -> tuple[FloatArray, FloatArray]:
        """The mean plus and minus the target; marked nodes have no lowest load."""
        capacity, mean = self._problem.model.capacity, self._problem.mean
        low = np.where(self._problem.model.marked, -np.inf, capacity * (mean - target))
        return low, capacity * (mean + target)


class RestDistance:
    """The second measure under skew: the nodes without a group above the mean, around the mean that is left to them.

    One group that is heavier than the mean decides the load distance; the other nodes would then be left anyhow within
    it. Their own distance is made small, while the load distance stays what it is.
    """

    def __init__(self, problem: Problem, outer: float) -> None:
        """`outer`: the load distance that must be kept, percent points."""
        model = problem.model
        self._problem = problem
        self._low, self._high = Distance(problem).bands(outer * (1 + 1e-9))
        self._giants: BoolArray = model.load > problem.mean * model.capacity[problem.open_nodes].max()

    def reached(self, node_of: IntArray) -> float:
        """The largest difference of such a node from what is left to them; inf when an outer band is missed."""
        loads = measures.node_loads(self._problem.model, node_of)
        if bool(((loads > self._high + 1e-6) | (loads < self._low - 1e-6)).any()):
            return np.inf
        rest, mean = self._rest(node_of)
        if not rest.any():
            return 0.0
        return float(np.abs(loads[rest] / self._problem.model.capacity[rest] - mean).max())

    def aim_from(self, node_of: IntArray) -> None:
        """Take the nodes with giants from this placement."""
        self._others, self._mean = self._rest(node_of)

    def set_bands(self, engine: Engine, target: float, best: IntArray) -> None:
        """Let an engine aim at that distance."""
        engine.set_bands(*self.bands(target))

    def bands(self, target: float) -> tuple[FloatArray, FloatArray]:
        """The rest's mean plus and minus the target, within the outer bands."""
        capacity = self._problem.model.capacity
        low = np.maximum(self._low, np.where(self._others, capacity * (self._mean - target), -np.inf))
        high = np.minimum(self._high, np.where(self._others, capacity * (self._mean + target), np.inf))
        return np.minimum(low, high), high

    def _rest(self, node_of: IntArray) -> tuple[BoolArray, float]:
        """Unmarked nodes without a giant, and the mean of the load that no giant carries over them."""
        model = self._problem.model
        rest = self._problem.open_nodes.copy()
        rest[node_of[self._giants]] = False
        share = float(model.load[~self._giants].sum())
        capacity = float(model.capacity[rest].sum())
        return rest, share / capacity if capacity > 0 else 0.0
