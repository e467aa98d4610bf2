"""Taking back the moves that do not pay."""

from __future__ import annotations

import numpy as np

from streamjob_planners import drain
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.kernel.compiled import AVAILABLE
from streamjob_planners.kernel.thin import send_home
from streamjob_planners.model import IntArray

CHUNK = 10_000 if AVAILABLE else 100
"""Groups between two looks at the clock."""


def thin_out(engine: Engine, node_of: IntArray, limits: Limits) -> IntArray:
    """`node_of` without the moves whose gain is below the price of a move, or nothing at all; drains are kept.

    Lightest groups first: they are the likeliest to be moved for nothing.
    """
    if limits.over():
        return node_of
    problem = engine.problem
    model, params = problem.model, problem.params
    worth = max(drain.stretch(problem, node_of), params.tolerance)
    moved = np.flatnonzero((node_of != model.node_of) & ~model.marked[model.node_of])
    moved = moved[np.argsort(model.load[moved], kind="stable")]
    engine.load(node_of)
    for first in range(0, moved.size, CHUNK):
        if limits.over():
            break
        span = (first, min(first + CHUNK, moved.size))
        knobs = (problem.mean, params.price_per_move, worth)
        worth = float(send_home(engine.fixed, engine.state, moved, span, knobs))
    return engine.placement()
