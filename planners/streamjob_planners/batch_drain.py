"""Emptying marked nodes while batches stay about as short as they can be."""

from __future__ import annotations

import numpy as np

from streamjob_planners import balance
from streamjob_planners.batch_goals import BatchTime
from streamjob_planners.drain import DRAIN_SLACK_RATIO, GRAIN_RATIO
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.transfer import may_enter, send
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem

DRAIN_PAIN = 0.05
"""Pain per drain weight while draining: less than 1, so that a level is never made longer for it."""
PASS_STEPS = 20_000
MOST_FAILURES = 30
"""Passes in a row that drain nothing more; the rest of the time is then left to others."""


def on_marked(problem: Problem, node_of: IntArray) -> IntArray:
    """Movable groups that are still on marked nodes, indices."""
    return np.flatnonzero(problem.model.marked[node_of] & problem.movable)


def drained(engine: Engine, limits: Limits, aim: BatchTime, schedule: balance.Schedule, node_of: IntArray) -> IntArray:
    """The most drained while every level stays within a tenth, or half a group, of its length."""
    lengths = aim.levels_s(node_of)
    aim_s = np.maximum(DRAIN_SLACK_RATIO * lengths, lengths + GRAIN_RATIO * engine.grain)
    best, failures = node_of, 0
    engine.load(best)
    while on_marked(engine.problem, best).size and failures < MOST_FAILURES and not limits.over():
        aim.hold(engine, aim_s)
        waiting = engine.waiting_of(best) * (1 - 1e-9) - 1e-12
        heat = schedule.heat * engine.grain
        if engine.run(limits, PASS_STEPS, heat, drain=DRAIN_PAIN, price=schedule.price, waiting=waiting):
            best, failures = engine.placement(), 0
            continue
        failures += 1
        engine.load(best)
    return best


def forced(engine: Engine) -> IntArray:
    """Today's placement with one group drained, the lightest that can be, to the node that then ends first."""
    model, fixed, state = engine.problem.model, engine.fixed, engine.state
    today = model.node_of
    engine.load(today)
    waiting = on_marked(engine.problem, today)
    for group in waiting[np.argsort(fixed.load[waiting], kind="stable")].tolist():
        cells = fixed.base[fixed.home[group]] + fixed.receivers
        ends = (state.loads[cells] + fixed.load[group]) / fixed.capacity[cells]
        for cell in cells[np.argsort(ends, kind="stable")].tolist():
            if may_enter(fixed, state, group, cell) and send(fixed, state, group, cell):
                return engine.placement()
    return today
