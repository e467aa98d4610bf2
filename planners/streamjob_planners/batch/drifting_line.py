"""A straight line over rows whose level may drift meanwhile.

Tasks of processes that warm up, or of state that grows, get faster or slower by themselves. Where rows rise or fall in
the same batches, a line by ordinary least squares takes the one for the other: seconds that fell while rows rose seemed
to have nothing to do with rows. So the level is a random walk beside the noise of single batches, a local level model
with an explanatory variable (Harvey, "Forecasting, structural time series models and the Kalman filter", 1989, 7.3);
how far it walks is what makes the series most likely, by restricted likelihood (Patterson and Thompson, Biometrika 58,
1971). Without a drift that is the ordinary line.
"""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.linalg import cho_solve_banded, cholesky_banded

from streamjob_planners.arrays import FloatArray

DRIFTS = (0.0, 0.03, 0.3, 3.0)
"""Variances of the level's step from batch to batch that are tried, as parts of that of a batch's own noise."""
LEAST_LEFT = 1e-14
"""Of the squares, what is left of them at least: a line without noise has a likelihood, too."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Seconds for each row, and the standard error of that. `weights @ seconds` is the slope, (n_rows,): they are good
    for whatever drifts alike."""

    value: float
    error: float
    weights: FloatArray


def slope_of(seconds: FloatArray, rows: FloatArray, weight: FloatArray) -> Slope:
    """Of seconds and rows of mean batches, oldest first, `weight` batches in each, (n_rows,) all, 3 or more.

    Raises ValueError where rows do not vary.
    """
    centred = rows - float(weight @ rows) / float(weight.sum())
    scale = float(np.abs(centred).max())
    if not scale > 0:
        raise ValueError("rows: all alike, a slope needs some that vary")
    columns = np.stack([np.ones(rows.size), centred / scale], axis=1)
    y = seconds - float(weight @ seconds) / float(weight.sum())
    found = [_fitted(columns, y, weight, drift) for drift in DRIFTS]
    _, slope = max(found, key=lambda one: one[0])  # the first, which drifts least, of those that are as likely
    return Slope(value=slope.value / scale, error=slope.error / scale, weights=slope.weights / scale)


def _fitted(columns: FloatArray, y: FloatArray, weight: FloatArray, drift: float) -> tuple[float, Slope]:
    """Twice the restricted log likelihood, but for what all drifts have alike, and the slope."""
    both, spread = _within(np.column_stack([columns, y]), weight, drift)
    within, y_within = both[:, :2], both[:, 2]
    moments = columns.T @ within
    inverse = np.linalg.inv(moments)
    weights: FloatArray = within @ inverse
    line = weights.T @ y
    own = float((y - columns @ line) @ (y_within - within @ line))
    own = max(own, LEAST_LEFT * float(weight @ y**2), np.finfo(np.float64).tiny)
    free = y.size - 2
    likely = -free * math.log(own) - spread - float(np.linalg.slogdet(moments)[1])
    error = math.sqrt(own / free * float(inverse[1, 1]))
    return likely, Slope(value=float(line[1]), error=error, weights=weights[:, 1])


def _within(columns: FloatArray, weight: FloatArray, drift: float) -> tuple[FloatArray, float]:
    """Columns, (n, k), by the inverse of the noise's covariance, and the logarithm of its determinant.

    The covariance of noise and walk is D + drift K with K_ij = min(i, j), whose inverse has three diagonals; by
    Woodbury's identity so has all that needs solving.
    """
    weighted, spread = weight[:, None] * columns, -float(np.log(weight).sum())
    if not drift:
        return weighted, spread
    size = weight.size
    bands = np.zeros((2, size))
    bands[0, 1:] = -1.0 / drift
    bands[1] = 2.0 / drift + weight
    bands[1, -1] -= 1.0 / drift
    factor = cholesky_banded(bands, overwrite_ab=True, check_finite=False)
    spread += size * math.log(drift) + 2.0 * float(np.log(factor[1]).sum())
    found: FloatArray = weighted - weight[:, None] * cho_solve_banded((factor, False), weighted, check_finite=False)
    return found, spread
