"""Searching for the smallest load distance: aim at a target between the bound and the best so far, again and again."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Aim
from streamjob_planners.model import IntArray
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
