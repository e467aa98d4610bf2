"""Taking back the moves that no batch pays for."""

from __future__ import annotations

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.cells import send_home_unpaid
from streamjob_planners.model import IntArray

CHUNK = 1_000
"""Groups between two looks at the clock."""
ROUNDS = 3
"""Times that all moves are looked at: what one of them was for may be gone once another is taken back."""
NOTHING = 1e-9
"""Part of a group's seconds that is no gain."""


def send_unpaid_home(engine: Engine, node_of: IntArray, limits: Limits, toll: float) -> IntArray:
    """`node_of` without the moves that gain less than `toll` per second of pause; drains are kept.

    Lightest groups first: they are the likeliest to be moved for nothing.
    """
    if limits.over():
        return node_of
    model, fixed, state = engine.problem.model, engine.fixed, engine.state
    moved = np.flatnonzero((node_of != model.node_of) & ~model.marked[model.node_of])
    moved = moved[np.argsort(fixed.load[moved], kind="stable")]
    knobs = (toll, NOTHING * engine.grain, int(np.count_nonzero(~model.marked)))
    engine.load(node_of)
    for _ in range(ROUNDS):
        sent = 0
        for first in range(0, moved.size, CHUNK):
            if limits.over():
                break
            sent += int(send_home_unpaid(fixed, state, moved, (first, min(first + CHUNK, moved.size)), knobs))
        if sent == 0 or limits.over():
            break
    return engine.placement()
