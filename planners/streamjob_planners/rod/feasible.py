"""How much of the ideal feasible set a placement keeps, by quasi Monte Carlo (definition 1; section 6.1.1)."""

from __future__ import annotations

import functools

import numpy as np
from scipy.stats import qmc

from streamjob_planners.model import BoolArray, FloatArray, IntArray

POINTS_LOG2 = 13
"""8192 points: in three to five dimensions the ratio is then off by some thousandths."""
_GOLDEN = 0.6180339887498949


@functools.cache
def simplex_points(n_sources: int, points_log2: int = POINTS_LOG2) -> FloatArray:
    """Points spread evenly over x >= 0, sum of x <= 1, (2 ** points_log2, n_sources); always the same ones.

    A Sobol sequence, shifted by multiples of the golden ratio so that no point is on an axis; spacings of sorted
    coordinates are uniform on the simplex.
    """
    cube = qmc.Sobol(n_sources, scramble=False).random_base2(points_log2)
    shifted = np.sort((cube + _GOLDEN * np.arange(1, n_sources + 1)) % 1.0, axis=1)
    points: FloatArray = np.diff(shifted, axis=1, prepend=0.0)
    points.setflags(write=False)
    return points


def feasible_ratio(planes: FloatArray, lowest: FloatArray | None = None, points_log2: int = POINTS_LOG2) -> float:
    """The feasible set over the ideal one, 0 to 1.

    Args:
        planes: one constraint `row x <= 1` a row in normalised rates, (n_planes, n_sources): the nodes' weights, and
            those of their bandwidth where that is limited (definition 2).
        lowest: normalised rates below which nothing is, (n_sources,); both sets are then counted above it.
        points_log2: how many points, as a power of two.
    """
    points = simplex_points(planes.shape[1], points_log2)
    left = 1.0 if lowest is None else 1.0 - float(lowest.sum())
    if left <= 0:
        return 0.0
    room = np.ones(len(planes)) if lowest is None else 1.0 - planes @ lowest
    worst = _binding(planes)
    inside = (left * points) @ planes[worst].T <= room[worst] + 1e-12
    return float(inside.all(axis=1).mean())


def _binding(planes: FloatArray) -> IntArray:
    """Indices of the planes that no other one implies, equal ones once."""
    unique = np.unique(planes, axis=0, return_index=True)[1]
    rows = planes[unique]
    implied: BoolArray = np.asarray((rows[None, :, :] >= rows[:, None, :]).all(axis=2), dtype=np.bool_)
    np.fill_diagonal(implied, False)
    keep: BoolArray = ~np.asarray(implied.any(axis=1), dtype=np.bool_)
    return np.asarray(unique[keep], dtype=np.int64)
