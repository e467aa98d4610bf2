"""Distances of hyperplanes, which the heuristics make large instead of the feasible set (sections 4.2, 4.4.1)."""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import FloatArray


def axis_distances(weights: FloatArray) -> FloatArray:
    """The least over all planes of the distance 1 / w_ik on each axis, inf where no plane cuts it, (n_sources,)."""
    heaviest = weights.max(axis=0)
    return np.where(heaviest > 0, 1.0 / np.where(heaviest > 0, heaviest, 1.0), np.inf)


def plane_distances(weights: FloatArray, lowest: FloatArray | None = None) -> FloatArray:
    """Distance of each plane w x = 1 from the origin, or from the lowest rates that occur; inf for a zero row.

    Args:
        weights: one plane a row, (n_planes, n_sources).
        lowest: normalised rates below which nothing is, (n_sources,). A point above a plane has a negative distance.
    """
    room = 1.0 if lowest is None else 1.0 - weights @ lowest
    length = np.sqrt((weights**2).sum(axis=-1))
    return np.where(length > 0, room / np.where(length > 0, length, 1.0), np.inf)


def ideal_plane_distance(n_sources: int, lowest: FloatArray | None = None) -> float:
    """The paper's r*: distance of the plane where all nodes are full at once."""
    return float(plane_distances(np.ones((1, n_sources)), lowest)[0])
