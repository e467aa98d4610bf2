"""Taking back the moves that no batch pays for."""

from __future__ import annotations

import numpy as np

from streamjob_planners.engine import Engine
from streamjob_planners.kernel.cells import send_home_unpaid
from streamjob_planners.model import IntArray

ROUNDS = 10
"""Times that all moves are looked at: what one of them was for may be gone once another is taken back."""
NOTHING = 1e-9
"""Part of a group's seconds that is no gain."""


def send_unpaid_home(engine: Engine, node_of: IntArray, toll: float) -> IntArray:
    """`node_of` without the moves that gain less than `toll` per second of pause; drains are kept.

    Lightest groups first: they are the likeliest to be moved for nothing. Not bound to a clock: the search keeps the
    time for it back, as a plan with moves for nothing is no plan.
    """
    model, fixed, state = engine.problem.model, engine.fixed, engine.state
    moved = np.flatnonzero((node_of != model.node_of) & ~model.marked[model.node_of])
    moved = moved[np.argsort(fixed.load[moved], kind="stable")]
    knobs = (toll, NOTHING * engine.grain, int(np.count_nonzero(~model.marked)))
    engine.load(node_of)
    for _ in range(ROUNDS):
        work = np.bincount(state.at, fixed.load, fixed.capacity.size).astype(np.float64)
        if send_home_unpaid(fixed, state, work, moved, knobs) == 0:
            break
    return engine.placement()
