"""Long passes of the search: squares of what nodes are off their bands hurt, and one slow cooling.

A step helps such a pass as much as it takes from the nodes that are farthest off, so all of them come closer together,
and one slow cooling finds what many short passes from the best do not: which groups make the journey at all.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.model import IntArray

HEAT = 0.5
"""What a node is apart from its band's middle when the pass begins, root mean square: the first threshold is the square
of this part of it."""
SPREAD = 0.5
"""Standard deviation of the logarithm of that part."""
LEAST = 1e-3
"""Part of what one group brings to a node whose square is the last threshold."""
COOLEST = 0.1
"""Part of the first distance that the last one has at most."""


def long_pass(engine: Engine, limits: Limits) -> IntArray:
    """The placement that the engine ends with, (n_groups,), from the one that it holds to the bands that it has.

    It takes all of `limits`.
    """
    fixed, state = engine.fixed, engine.state
    apart = np.where(fixed.marked, 0.0, (state.loads - state.middle) / fixed.capacity)
    sigma = float(np.sqrt((apart**2).mean())) if apart.size else 0.0
    heat = HEAT * sigma * float(np.exp(SPREAD * engine.rng.standard_normal()))
    if heat > 0.0:
        weight = float(fixed.capacity.mean())
        engine.run_steep(limits, heat**2 * weight, min(LEAST * engine.grain, COOLEST * heat) ** 2 * weight)
    return engine.placement()
