"""How much of a plan's gain in load distance may come from the noise of what was measured: `batch.doubt` in points.

A planner that finds nothing levels the noise of its window, and promises the distance that noise has made. So a gain is
real where it is more than noise makes of the plan's own placement.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.batch.doubt import DRAWS, LEAST_DRAWS, MOST_TASKS, SURE
from streamjob_planners.model import FloatArray, IntArray, LoadModel


def distance_doubt(model: LoadModel, node_of: IntArray) -> float:
    """Percent points by which noise hardly ever makes the placement's load distance larger; 0.0 where no errors are
    known. By drawing; the same for the same arguments."""
    errors = model.load_error
    if errors is None or not errors.any():
        return 0.0
    draws = int(np.clip(MOST_TASKS // errors.size, LEAST_DRAWS, DRAWS))
    rng = np.random.default_rng(0)  # the same numbers for every plan: plans are compared, not chances
    drawn = np.array([_distance(model, node_of, _blurred(model.load, errors, rng)) for _ in range(draws)])
    more = drawn - _distance(model, node_of, model.load)
    return max(0.0, float(more.mean())) + SURE * float(more.std(ddof=1))


def _blurred(load: FloatArray, errors: FloatArray, rng: np.random.Generator) -> FloatArray:
    """Loads with errors as large as those of the measurement."""
    return np.maximum(0.0, load + errors * rng.standard_normal(load.size))


def _distance(model: LoadModel, node_of: IntArray, load: FloatArray) -> float:
    """The load distance of these loads, percent points."""
    open_nodes = ~model.marked
    held = np.bincount(node_of, load, model.n_nodes) / model.capacity
    apart = np.abs(held - load.sum() / model.capacity[open_nodes].sum())
    return float(apart[open_nodes].max())
