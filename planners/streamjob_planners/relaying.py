"""Relaying: bands are drawn closer, and what nodes are then off goes from node to node until one can take it.

For budgets that count moves: exchanges that keep their number are plenty, so walks through them come to an end.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.board import Board
from streamjob_planners.closing import cheaper
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.relay import relay_all
from streamjob_planners.kernel.state import N_OFF
from streamjob_planners.model import IntArray
from streamjob_planners.tightening import Tightens, closer

FIRST_PART, LAST_PART = 0.85, 0.99
"""Part of the way to the floor that is left by the first try, and at which there is no further one."""
HOPS, HOPS_PER_NODE = 4000, 20
"""Hops of a try, the larger of both: it has failed then."""
HOPS_AT_ONCE = 200
"""Hops between two looks at the clock: half a millisecond at most."""
MOST_SHARE = 0.8
"""Part of what is left that relays take at most: what a thread has found is lost where it is late at the end."""
SLACKS, KICKED, SAVED, DRIFTS, LONGER = (1.3, 10.0), (0.05, 0.5), (0.03, 0.3), (0.05, 0.5), (0.5, 2.0)
"""What is drawn for each try, between both by equal ratios: how many times what its first node was off a walk may leave
another one off, by chance; the part of the walks that begin with a travelling group that goes home, as long as few
nodes are off; the part of the rounds that try to save a move, as long as none is left; the part of the others that
drift, as long as few nodes are off; a factor on the hops. No one choice is best where many nodes are off and where few
are."""
STEPS = 5
"""Random steps that take as long as a hop."""


def relayed(
    engine: Engine, limits: Limits, aim: Tightens, best: IntArray, board: Board | None = None, *, saves: bool = False
) -> IntArray:
    """From `best`, closer and closer bands; less close each time that one fails; (n_groups,).

    `board`: what another thread that does the same has found; `saves`: whether exchanges that cost less than nothing
    come before each try, where groups differ in price.
    """
    with limits.lent(MOST_SHARE) as own:

        def make(best: IntArray, reached: float, part: float, beaten: Callable[[], bool]) -> tuple[IntArray, bool]:
            if saves:
                best = cheaper(engine, own, aim, best, reached)
            else:
                engine.load(best)
            aim.set_closer(engine, best, part)
            return best, _met(engine, own, beaten)

        return closer(engine, own, aim, best, (FIRST_PART, LAST_PART), make, nothing=0.0, board=board)


def _met(engine: Engine, limits: Limits, beaten: Callable[[], bool]) -> bool:
    """Walks until all cells are within their bands, which is said, or enough has been tried, or somebody was faster."""
    counters, made = engine.state.counters, 0
    slack, kicked, saves, drifts = (_drawn(engine.rng, between) for between in (SLACKS, KICKED, SAVED, DRIFTS))
    knobs = slack, kicked, saves, drifts
    most = _drawn(engine.rng, LONGER) * max(HOPS, HOPS_PER_NODE * engine.problem.model.n_nodes)
    while counters[N_OFF] > 0 and made < most and not limits.over() and not beaten():
        hops = int(relay_all(engine.fixed, engine.state, engine.relay, knobs, HOPS_AT_ONCE))
        limits.steps_left -= STEPS * hops
        made += hops
    return bool(counters[N_OFF] == 0)


def _drawn(rng: np.random.Generator, between: tuple[float, float]) -> float:
    """Between two numbers above 0, so that the logarithm is drawn evenly."""
    least, most = between
    return float(least * (most / least) ** rng.random())
