"""Emptying marked nodes while batches stay about as short as they can be."""

from __future__ import annotations

import numpy as np

from streamjob_planners import balance, drain
from streamjob_planners.batch_goals import BatchTime
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.transfer import may_enter, send
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

DRAIN_PAIN = 0.05
"""Pain per drain weight while draining: less than 1, so that a level is never made longer for it."""
PASS_STEPS = 20_000
MOST_FAILURES = 30
"""Passes in a row that drain nothing more; the rest of the time is then left to others."""


def drained(engine: Engine, limits: Limits, aim: BatchTime, schedule: balance.Schedule, node_of: IntArray) -> IntArray:
    """The most drained while every level stays within a tenth, or half a group, of its length.

    The length is the one that it has, or the one that it will have when marked nodes are gone if that is more: work
    that they do now makes levels shorter than they can stay.
    """
    lengths = np.maximum(aim.levels_s(node_of), without_marked_s(engine.problem))
    aim_s = np.maximum(drain.DRAIN_SLACK_RATIO * lengths, lengths + drain.GRAIN_RATIO * engine.grain)
    best, failures = node_of, 0
    engine.load(best)
    while drain.waiting(engine.problem, best).size and failures < MOST_FAILURES and not limits.over():
        aim.hold(engine, aim_s)
        waiting = engine.waiting_of(best) * (1 - 1e-9) - 1e-12
        heat = schedule.heat * engine.grain
        if engine.run(limits, PASS_STEPS, heat, drain=DRAIN_PAIN, price=schedule.price, waiting=waiting):
            best, failures = engine.placement(), 0
            continue
        failures += 1
        engine.load(best)
    return best


def without_marked_s(problem: Problem) -> FloatArray:
    """Length of each level once the marked nodes are gone, if it could be shared out evenly, (n_levels,)."""
    model, shape = problem.model, problem.model.batch
    if shape is None or not model.marked.any():
        return np.zeros(0 if shape is None else shape.n_levels)
    pace = float((shape.slots * shape.speed)[~model.marked].sum())
    work_s = np.bincount(shape.level, shape.task_s, shape.n_levels) / pace
    longest_s = np.zeros(shape.n_levels)
    np.maximum.at(longest_s, shape.level, shape.task_s / float(shape.speed[~model.marked].max()))
    return np.maximum(work_s, longest_s)


def forced(engine: Engine, node_of: IntArray) -> IntArray:
    """`node_of` with one group drained, the lightest that can be, to the node that then ends first."""
    fixed, state = engine.fixed, engine.state
    engine.load(node_of)
    waiting = drain.waiting(engine.problem, node_of)
    for group in waiting[np.argsort(fixed.load[waiting], kind="stable")].tolist():
        cells = fixed.base[fixed.home[group]] + fixed.receivers
        ends = (state.loads[cells] + fixed.load[group]) / fixed.capacity[cells]
        for cell in cells[np.argsort(ends, kind="stable")].tolist():
            if may_enter(fixed, state, group, cell) and send(fixed, state, group, cell):
                return engine.placement()
    return node_of
