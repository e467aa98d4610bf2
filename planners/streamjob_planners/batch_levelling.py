"""The first plan for a shorter batch: cells levelled in pairs as far as the budget affords.

Slots are taken for one that is as many times as fast: sums are levelled well in pairs, ends of list schedules are not.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import numpy as np

from streamjob_planners.batch_goals import BatchTime
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.levelling import Order, level_in_rounds
from streamjob_planners.model import FloatArray, IntArray

ROUNDS = 4
"""Times that all nodes are gone through for one target."""
TRIALS = 8
"""Targets that are tried when the budget is too small for the shortest."""
FINE = 1e-3
"""Part of the way from today to the floors that is not worth a trial."""


def levelled_batch(engine: Engine, limits: Limits, aim: BatchTime, floors: FloatArray) -> IntArray:
    """The placement with the shortest batch that levelling found, (n_groups,); today's if it found none."""
    best = today = engine.problem.model.node_of
    reached, levels_s = aim.reached(best), aim.levels_s(best)
    if bool((engine.fixed.slots > 1).any()):
        engine = Engine(engine.problem, 1, engine.fixed._replace(slots=np.ones_like(engine.fixed.slots)))
    near, far, part = 0.0, 1.0, FINE
    for _ in range(TRIALS):
        if far - near <= FINE or limits.over():
            break
        engine.load(today)
        aim.hold(engine, floors + part * (levels_s - floors))
        met = level_in_rounds(engine, limits, ROUNDS, functools.partial(_orders, engine))
        found = engine.placement()
        if aim.reached(found) < reached:
            best, reached = found, aim.reached(found)
        near, far = (near, part) if met else (part, far)
        part = (near + far) / 2
    return best


def _orders(engine: Engine) -> Iterator[Order]:
    """One for each level."""
    for base in np.unique(engine.fixed.base).tolist():
        yield _order(engine, base)


def _order(engine: Engine, base: int) -> Order:
    """Cells of a level above their band, latest first, and unmarked ones below, earliest first."""
    fixed, state = engine.fixed, engine.state
    cells = np.arange(base, base + fixed.limits.shape[1])
    apart = (state.loads[cells] - state.high[cells]) / fixed.capacity[cells]
    cells = cells[np.argsort(-apart, kind="stable")]
    apart = np.sort(-apart, kind="stable")
    givers, takers = cells[apart < 0], cells[(apart >= 0) & ~fixed.marked[cells]][::-1]
    return np.ascontiguousarray(givers), np.ascontiguousarray(takers)
