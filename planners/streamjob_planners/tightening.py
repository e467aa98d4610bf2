"""From a first plan to a good one: bands drawn closer and closer around the best so far, one short pass each."""

from __future__ import annotations

from typing import Protocol

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import IntArray

HEAT = 0.05
"""First threshold of a pass, as a part of what one group brings to a cell."""
FEWEST_STEPS, STEPS_PER_CELL = 2000, 50
"""Steps of a pass: it has failed when it takes so many."""
FIRST_PART, LAST_PART = 0.5, 0.98
"""Part of the way to the floor that is left by the first pass, and at which there is no further one."""
NOTHING = 1e-4
"""Part of a distance that is no gain: where moves cost more than they bring, it may come up again and again."""


class Tightens(Protocol):
    """A distance with bands between a placement and what can be reached at best."""

    def reached(self, node_of: IntArray) -> float:
        """The distance of a placement."""

    def set_closer(self, engine: Engine, best: IntArray, part: float) -> None:
        """Let an engine aim at a part of the way from the floor to a placement, (n_groups,)."""


def tightened(engine: Engine, limits: Limits, aim: Tightens, best: IntArray, toll: float = 0.0) -> IntArray:
    """From `best`, half as far from the floor as before, again and again; then less than half.

    A pass from a placement that is nearly good enough takes some hundred steps, so this comes first. `toll`: what a
    second of pause must gain.
    """
    reached, part = aim.reached(best), FIRST_PART
    steps = FEWEST_STEPS + STEPS_PER_CELL * engine.fixed.base.size
    while part < LAST_PART and not limits.over():
        engine.load(best)
        aim.set_closer(engine, best, part)
        met = engine.run(limits, steps, HEAT * engine.grain, drain=0.0, price=0.0, toll=toll)
        found = engine.placement()
        gained = reached - aim.reached(found)
        if gained > 0.0:
            best, reached = found, reached - gained
        part = part if met and gained > NOTHING * reached else (1 + part) / 2
    return best
