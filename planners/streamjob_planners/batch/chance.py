"""What chance adds: a stage ends with its slowest node, and of several that vary one is always slow."""

from __future__ import annotations

import numpy as np
from scipy.special import ndtr

from streamjob_planners.arrays import FloatArray

REACH = 6.0
"""Standard deviations beyond which nothing happens."""
STEPS = 240
"""Points of the integral; an error below a hundredth of the spread."""
LEAST_SPREAD = 1e-9
"""Part of the mean that stands for no spread at all, so that nothing is divided by 0."""


def expected_maximum(mean: FloatArray, spread: FloatArray) -> float:
    """Mean of the largest of independent normal variables, at least the largest mean.

    `mean`, `spread`: (n,), n > 0, the same unit. E max = low + integral of 1 - product of P(X_i <= t) from `low` on.
    """
    top = float(mean.max())
    wide = np.maximum(spread, LEAST_SPREAD * max(top, 1.0))
    near = mean + REACH * wide > top - REACH * float(wide.max())
    low, high = float((mean - REACH * wide).max()), float((mean + REACH * wide).max())
    points = np.linspace(low, high, STEPS)
    below = ndtr((points[:, None] - mean[near]) / wide[near]).prod(axis=1)
    return max(top, low + float(np.trapezoid(1.0 - below, points)))


def expected_excess(mean: FloatArray, spread: FloatArray) -> float:
    """By how much the expected maximum is above the largest mean, 0 or more."""
    return expected_maximum(mean, spread) - float(mean.max()) if mean.size else 0.0
