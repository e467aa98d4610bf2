"""Closing in: exact exchanges bring the last nodes into narrower bands, paid for by exchanges that save.

What keeps a good placement from a better one is mostly the budget: all of it is spent, and an exchange that helps
costs a little. Between nodes that are within their bands there are exchanges that leave them there and cost less than
nothing, so these come first, and again whenever no other one is left.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.board import Board
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.bundles import NONE
from streamjob_planners.kernel.exchange import MOST_TRIED, off_by, relieve, save
from streamjob_planners.kernel.state import N_OFF
from streamjob_planners.model import IntArray
from streamjob_planners.tightening import Tightens, closer

FIRST_PART, LAST_PART = 0.5, 0.98
"""Part of the way to the floor that is left by the first try, and at which there is no further one."""
SAVES, SAVES_AT_ONCE = 10, 10
"""How often so many pairs of nodes are looked at for something to save, before each try."""
SLACK = 2.0
"""By chance, another node may be off for it by up to so many times what the first one was."""
PASSED_ON = 8
"""How often what a node is off its band is passed on to another one."""
MOST_FAILED = 4
"""Nodes that stay off their bands: the try has failed then."""
NOISE = 0.5
"""By chance, up to this part of a mean price is added to costs where what is off is passed on."""
STEPS = 150
"""Random steps that take as long as one pair of nodes."""


def closed(engine: Engine, limits: Limits, aim: Tightens, best: IntArray, board: Board | None = None) -> IntArray:
    """From `best`, half as far from the floor as before, again and again; then less than half; (n_groups,).

    `board`: what another thread that does the same has found.
    """

    def make(best: IntArray, reached: float, part: float, beaten: Callable[[], bool]) -> tuple[IntArray, bool]:
        best = cheaper(engine, limits, aim, best, reached)
        aim.set_closer(engine, best, part)
        return best, _relieved(engine, limits, beaten)

    return closer(engine, limits, aim, best, (FIRST_PART, LAST_PART), make, nothing=0.0, board=board)


def cheaper(engine: Engine, limits: Limits, aim: Tightens, best: IntArray, reached: float) -> IntArray:
    """What exchanges that save make of `best`, (n_groups,), whose distance is `reached`; the engine holds it then."""
    engine.load(best)
    aim.set_closer(engine, best, 1.0)
    _save(engine, limits)
    found = engine.placement()
    if aim.reached(found) <= reached:
        return found
    engine.load(best)
    return best


def _relieved(engine: Engine, limits: Limits, beaten: Callable[[], bool]) -> bool:
    """Bring cells off their bands into them until a few have failed, or somebody was faster; whether all are in the
    end."""
    counters, failed = engine.state.counters, 0
    while counters[N_OFF] > 0 and failed < MOST_FAILED:
        for cell in engine.rng.permutation(np.flatnonzero(engine.state.off)).tolist():
            if limits.over() or beaten():
                return False
            if not _passed_on(engine, limits, cell):
                failed += 1
                _save(engine, limits)
            if failed == MOST_FAILED:
                break
    return bool(counters[N_OFF] == 0)


def _passed_on(engine: Engine, limits: Limits, cell: int) -> bool:
    """Exchange at a cell that is off, then at the one that is off for it, and so on; whether none is in the end."""
    fixed, state = engine.fixed, engine.state
    slack = float(off_by(state, cell)) * SLACK ** float(engine.rng.random())
    for _ in range(PASSED_ON):
        if cell < 0 or not state.off[cell] or limits.over():
            break
        cell = int(relieve(fixed, state, engine.table, cell, (slack, NOISE * engine.mean_part)))
        limits.steps_left -= STEPS * min(MOST_TRIED, fixed.receivers.size)
    return cell == NONE or (cell >= 0 and not state.off[cell])


def _save(engine: Engine, limits: Limits) -> None:
    """Exchange where that saves something."""
    for _ in range(SAVES):
        if limits.over():
            return
        save(engine.fixed, engine.state, engine.table, SAVES_AT_ONCE)
        limits.steps_left -= STEPS * SAVES_AT_ONCE
