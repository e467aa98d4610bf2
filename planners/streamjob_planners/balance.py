"""Searching for the smallest load distance: aim at a target between the bound and the best so far, again and again."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from streamjob_planners import drain, measures
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How passes follow one another; values found on the instances of section 5.1 (benchmarks/planners_quick.py).

    Attributes:
        steps: length of the first pass.
        growth: factor on the length after a pass that failed.
        aim: part of the gap between floor and best that the first target closes.
        bolder, meeker: factors on `aim` after a pass that met its target, and one that failed.
        least_aim: `aim` never falls below this.
        heat: the first threshold of a pass, as a part of the target.
        most_heat: the most it may be, as a part of the mean utilisation that one group brings.
        drain: pain per drain weight on marked nodes, small: the distance comes first.
        price: pain per move: ties are not worth a move.
        close: percent points from the floor at which there is nothing left to win.
    """

    steps: int = 4_000
    growth: float = 1.4
    aim: float = 0.6
    bolder: float = 1.3
    meeker: float = 0.6
    least_aim: float = 0.02
    heat: float = 1.0
    most_heat: float = 0.3
    drain: float = 1e-3
    price: float = 1e-3
    close: float = 1e-4


class Aim(Protocol):
    """A distance to make small, and the bands that mean it has been reached."""

    def reached(self, node_of: IntArray) -> float:
        """The distance of a placement, percent points."""

    def bands(self, target: float) -> tuple[FloatArray, FloatArray]:
        """Lowest and highest load of each node at that distance, (n_nodes,) each."""


class Distance:
    """The MILP's d: all unmarked nodes near the mean, marked ones not above it."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem

    def reached(self, node_of: IntArray) -> float:
        """The stretch."""
        return drain.stretch(self._problem, node_of)

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


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a descent wants: `aim` down to `floor`, with at most `waiting` drain weight left on marked nodes."""

    aim: Aim
    floor: float
    waiting: float = np.inf
    price: float = 0.0


def descend(engine: Engine, limits: Limits, start: IntArray, goal: Goal, schedule: Schedule) -> IntArray:
    """From `start`, the placement with the smallest distance plus price of its moves that was found."""
    best = cheapest = start
    reached = goal.aim.reached(start)
    least = _total(engine.problem, goal, start)
    aim, steps = schedule.aim, float(schedule.steps)
    engine.load(start)
    hottest = schedule.most_heat * group_utilisation(engine.problem)
    while reached > goal.floor + schedule.close and not limits.over():
        target = reached - aim * (reached - goal.floor)
        engine.set_bands(*goal.aim.bands(target))
        heat = min(schedule.heat * target, hottest)
        price = max(schedule.price, goal.price)
        met = engine.run(limits, int(steps), heat, drain=schedule.drain, price=price, waiting=goal.waiting)
        found = engine.placement() if engine.waiting() <= goal.waiting else best
        distance = goal.aim.reached(found)
        if distance < reached:
            best, reached = found, distance
            if _total(engine.problem, goal, best) < least:
                cheapest, least = best, _total(engine.problem, goal, best)
        if met:
            aim = min(0.9, aim * schedule.bolder)
        else:
            aim = max(schedule.least_aim, aim * schedule.meeker)
            steps *= schedule.growth
            if aim == schedule.least_aim:
                engine.load(best)
    return cheapest


def group_utilisation(problem: Problem) -> float:
    """What one key group brings to a node on average, percent points."""
    model = problem.model
    return float(model.load.mean() / model.capacity.mean()) if model.n_groups else 0.0


def _total(problem: Problem, goal: Goal, node_of: IntArray) -> float:
    moves = int(np.count_nonzero(node_of != problem.model.node_of))
    return max(goal.aim.reached(node_of), goal.floor) + goal.price * moves
