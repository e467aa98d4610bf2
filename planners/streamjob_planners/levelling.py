"""The first plan: nodes levelled in pairs towards the narrowest band, which a loose budget affords."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.compiled import AVAILABLE
from streamjob_planners.kernel.state import N_OFF
from streamjob_planners.kernel.transfer import level, new_scratch
from streamjob_planners.model import IntArray

Order = tuple[IntArray, IntArray]
"""Nodes that give and nodes that take, each in the order in which they are levelled."""
CHUNK = 256 if AVAILABLE else 2
"""Transfers between two looks at the clock: a few milliseconds."""
ROUNDS = 6
"""Times that all nodes are gone through for one band; what the first ones leave over, the next ones share out."""
SPENT = 0.999
"""Part of the budget that is all of it: what then still goes round and round brings no further node in."""
NARROWEST = 1e-4
"""Percent points: no band is aimed at that is narrower."""


def levelled(engine: Engine, limits: Limits, floor: float) -> IntArray:
    """The placement that levelling finds for the narrowest band, (n_groups,); today's if it is not better.

    `floor`: percent points below which nothing is won.
    """
    today, aim = engine.problem.model.node_of, Distance(engine.problem)
    target = max(floor, NARROWEST)
    if aim.reached(today) <= target or limits.over():
        return today
    engine.load(today)
    engine.set_bands(*aim.bands(target))
    level_in_rounds(engine, limits, ROUNDS, lambda: [_order(engine, target)])
    found = engine.placement()
    return found if aim.reached(found) < aim.reached(today) else today


def level_in_rounds(engine: Engine, limits: Limits, rounds: int, orders: Callable[[], Iterable[Order]]) -> bool:
    """Level what the engine holds towards its bands, in rounds as long as one gains and there is something to spend;
    whether every node met its own.

    `orders` are those of one round, each asked for when the one before is done.
    """
    scratch = new_scratch(engine.state)
    for _ in range(rounds):
        before = engine.state.counters[N_OFF]
        for order in orders():
            scratch.cursor[:] = 0
            while not (limits.over() or _spent(engine)):
                limits.steps_left -= CHUNK
                if level(engine.fixed, engine.state, scratch, order, CHUNK):
                    break
        if not 0 < engine.state.counters[N_OFF] < before or limits.over() or _spent(engine):
            break
    return bool(engine.state.counters[N_OFF] == 0)


def _spent(engine: Engine) -> bool:
    """Whether a budget is spent."""
    return bool((engine.state.spent >= SPENT * engine.fixed.allowances).any())


def _order(engine: Engine, target: float) -> Order:
    """Givers, fullest first, and takers, emptiest first; marked nodes give before others that are within their band."""
    model = engine.problem.model
    apart = engine.state.loads / model.capacity - engine.problem.mean
    apart = np.where(model.marked, np.maximum(apart, target), apart)
    order = np.argsort(-apart, kind="stable")
    givers = order[apart[order] > 0]
    takers = order[::-1][(apart <= 0)[order[::-1]] & ~model.marked[order[::-1]]]
    return np.ascontiguousarray(givers), np.ascontiguousarray(takers)
