"""Searching for the smallest load distance: aim at a target between the bound and the best so far, again and again."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from streamjob_planners import drain
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Aim
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """How passes follow one another; values found on the instances of section 5.1 (docs/decisions/0011-search.md).

    Many short passes beat few long ones: where the budget is tight, a pass ends on a plateau that a longer one does not
    leave either, and which plateau that is, is decided early.

    Attributes:
        steps: length of the first pass.
        steps_per_move: its length per move of the budget, if that is more, up to `most_steps`.
        growth: factor on the length after a pass that found nothing.
        again: chance that a pass starts at today's placement, and not at the best so far.
        aim: a target closes up to this part of the gap between floor and best, by chance.
        heat: the median first threshold of a pass, as a part of what one group brings to a node.
        spread: standard deviation of the logarithm of the heat.
        drain: pain per drain weight on marked nodes, small: the distance comes first.
        price: pain per move: ties are not worth a move.
        close: percent points from the floor at which there is nothing left to win.
    """

    steps: int = 8_000
    steps_per_move: int = 200
    most_steps: int = 200_000
    growth: float = 1.01
    again: float = 0.5
    aim: float = 0.6
    heat: float = 0.12
    spread: float = 0.7
    drain: float = 1e-3
    price: float = 1e-3
    close: float = 1e-4

    def first_steps(self, problem: Problem) -> float:
        """Length of the first pass."""
        moves = min(float(problem.allowances[1]), float(problem.movable.sum()))
        return float(max(self.steps, min(self.most_steps, moves * self.steps_per_move)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """What a descent wants: `aim` down to `floor`, with at most `waiting` drain weight left on marked nodes."""

    aim: Aim
    floor: float
    waiting: float = np.inf
    price: float = 0.0


def descend(engine: Engine, limits: Limits, start: IntArray, goal: Goal, schedule: Schedule) -> IntArray:
    """From `start`, the placement with the smallest distance plus price of its moves that was found."""
    today = engine.problem.model.node_of
    best = cheapest = start
    reached = goal.aim.reached(start)
    least = _total(engine.problem, goal, start)
    steps = schedule.first_steps(engine.problem)
    while reached > goal.floor + schedule.close and not limits.over():
        again = goal.waiting == np.inf and engine.rng.random() < schedule.again
        engine.load(today if again else best)
        found = _pass(engine, limits, goal, schedule, (reached, steps))
        distance = goal.aim.reached(found)
        if distance >= reached:
            steps *= schedule.growth
            continue
        best, reached = found, distance
        if _total(engine.problem, goal, best) < least:
            cheapest, least = best, _total(engine.problem, goal, best)
    return cheapest


def _pass(engine: Engine, limits: Limits, goal: Goal, schedule: Schedule, now: tuple[float, float]) -> IntArray:
    """One pass; `now`: the distance reached so far, and the number of steps."""
    reached, steps = now
    target = reached - schedule.aim * engine.rng.random() * (reached - goal.floor)
    engine.set_bands(*goal.aim.bands(target))
    heat = (
        schedule.heat
        * drain.group_utilisation(engine.problem)
        * math.exp(schedule.spread * engine.rng.standard_normal())
    )
    price = max(schedule.price, goal.price)
    engine.run(limits, int(steps), heat, drain=schedule.drain, price=price, waiting=goal.waiting)
    return engine.placement() if engine.waiting() <= goal.waiting else engine.problem.model.node_of


def _total(problem: Problem, goal: Goal, node_of: IntArray) -> float:
    moves = int(np.count_nonzero(node_of != problem.model.node_of))
    return max(goal.aim.reached(node_of), goal.floor) + goal.price * moves
