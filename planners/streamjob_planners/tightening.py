"""From a first plan to a good one: bands drawn closer and closer around the best so far, one short pass each."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Protocol

from streamjob_planners.board import Board
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


Try = Callable[[IntArray, float, float, Callable[[], bool]], tuple[IntArray, bool]]
"""One try in the engine, from the best so far, its distance and the part of the way to the floor that its bands leave,
until somebody else has found what it looks for: the best from now on, as a try may find one that is as good and costs
less, and whether all bands were met."""


def closer(
    engine: Engine,
    limits: Limits,
    aim: Tightens,
    best: IntArray,
    parts: tuple[float, float],
    make: Try,
    *,
    nothing: float,
    board: Board | None = None,
) -> IntArray:
    """From `best`, closer and closer bands, and less close ones each time that a try fails; (n_groups,).

    `parts`: of the way to the floor that is left by the first try, and at which there is no further one; `nothing`: the
    part of a distance that is no gain; `board`: where another thread does the same. Each goes on from what either has
    found, and a try that the other one beats has not failed.
    """
    reached, (part, last) = aim.reached(best), parts
    while part < last and not limits.over():
        if board is not None and board.best()[0] < reached:
            reached, best = board.best()
        beaten = _nobody if board is None or reached <= 0.0 else functools.partial(board.beats, part * reached)
        best, met = make(best, reached, part, beaten)
        found = engine.placement()
        gained = reached - aim.reached(found)
        if gained > 0.0:
            best, reached = found, reached - gained
            if board is not None:
                board.tell(reached, best)
        part = part if beaten() or (met and gained > nothing * reached) else (1 + part) / 2
    return best if board is None or reached <= board.best()[0] else board.best()[1]


def _nobody() -> bool:
    return False


def tightened(engine: Engine, limits: Limits, aim: Tightens, best: IntArray, toll: float = 0.0) -> IntArray:
    """From `best`, half as far from the floor as before, again and again; then less than half.

    A pass from a placement that is nearly good enough takes some hundred steps, so this comes first. `toll`: what a
    second of pause must gain.
    """
    steps = FEWEST_STEPS + STEPS_PER_CELL * engine.fixed.base.size

    def make(best: IntArray, _: float, part: float, __: Callable[[], bool]) -> tuple[IntArray, bool]:
        engine.load(best)
        aim.set_closer(engine, best, part)
        return best, engine.run(limits, steps, HEAT * engine.grain, drain=0.0, price=0.0, toll=toll)

    return closer(engine, limits, aim, best, (FIRST_PART, LAST_PART), make, nothing=NOTHING)
