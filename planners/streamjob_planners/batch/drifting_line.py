"""A straight line over rows whose level may drift meanwhile.

Tasks of processes that warm up, or of state that grows, get faster or slower by themselves. Where rows rise or fall in
the same batches, a line by ordinary least squares takes the one for the other: seconds that fell while rows rose seemed
to have nothing to do with rows. So the level is a random walk beside the noise of single batches, a local level model
with an explanatory variable (Harvey, "Forecasting, structural time series models and the Kalman filter", 1989, 7.3);
how far it walks is what makes the series most likely, by restricted likelihood (Patterson and Thompson, Biometrika 58,
1971). Without a drift that is the ordinary line. A row that weighs 0 is as if it were missing: the level walks on.
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
LEAST_KNOWN = 1e-9
"""Of P's diagonal, by that of V^-1: what is less is rounding."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """A line over rows at one drift: y = X b, X the ones and the rows, V the covariance of noise and walk.

    Attributes:
        free: rows that weigh something, less 2.
        slope: seconds for each row.
        noise: variance of a batch's own noise, seconds squared.
        variance: of the slope, over `noise`.
        weights: `weights @ y` is the slope, (n_rows,); 0 for a row that weighs 0.
        left: what the line leaves of y, by the inverse of V, (n_rows,): P y.
        known: diagonal of P = V^-1 - V^-1 X (X' V^-1 X)^-1 X' V^-1, (n_rows,). 0 for a row that weighs 0, and for one
            that decides the line alone.
    """

    free: int
    slope: float
    noise: float
    variance: float
    weights: FloatArray
    left: FloatArray
    known: FloatArray


def likeliest(seconds: FloatArray, rows: FloatArray, weight: FloatArray) -> Fit:
    """Of seconds and rows of mean batches, oldest first, `weight` batches in each, (n_rows,) all, 3 or more above 0.

    Raises ValueError where rows do not vary.
    """
    counted = weight > 0
    if not np.ptp(rows[counted]) > 0:
        raise ValueError("rows: all alike, a slope needs some that vary")
    centred = rows - float(weight @ rows) / float(weight.sum())
    scale = float(np.abs(centred[counted]).max())
    y = seconds - float(weight @ seconds) / float(weight.sum())
    columns = np.stack([np.ones(rows.size), centred / scale, y], axis=1)
    found = [_line(columns, weight, drift) for drift in DRIFTS]
    best = max(found, key=lambda one: one.likely)  # the first, which drifts least, of those that are as likely
    return _fit(best, weight, scale)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Line:
    """`line` is b over centred and scaled rows; `within` X and y by the inverse of V, (n_rows, 3); `inverse` that of
    X' V^-1 X; `squares` are what is left of y. `likely`: twice the restricted log likelihood, but for what all drifts
    have alike."""

    drift: float
    likely: float
    squares: float
    line: FloatArray
    within: FloatArray
    inverse: FloatArray


def _line(columns: FloatArray, weight: FloatArray, drift: float) -> _Line:
    """`columns`: ones, rows, seconds, (n_rows, 3)."""
    within, spread = _within(columns, weight, drift)
    products = columns.T @ within
    (ones, cross), (_, squared) = products[:2, :2].tolist()
    size = ones * squared - cross**2
    inverse = np.array([[squared, -cross], [-cross, ones]]) / size
    line: FloatArray = inverse @ products[:2, 2]
    beyond = np.append(-line, 1.0)  # what columns make of it is what the line leaves of y
    squares = float((columns @ beyond) @ (within @ beyond))
    squares = max(squares, LEAST_LEFT * float(weight @ columns[:, 2] ** 2), np.finfo(np.float64).tiny)
    free = int(np.count_nonzero(weight)) - 2
    likely = -free * math.log(squares) - spread - math.log(size)
    return _Line(drift=drift, likely=likely, squares=squares, line=line, within=within, inverse=inverse)


def _fit(found: _Line, weight: FloatArray, scale: float) -> Fit:
    free, within = int(np.count_nonzero(weight)) - 2, found.within[:, :2]
    weights: FloatArray = within @ found.inverse
    alone = _diagonal(weight, found.drift)
    known = alone - (weights * within).sum(axis=1)
    return Fit(
        free=free,
        slope=float(found.line[1]) / scale,
        noise=found.squares / free,
        variance=float(found.inverse[1, 1]) / scale**2,
        weights=weights[:, 1] / scale,
        left=found.within @ np.append(-found.line, 1.0),
        known=np.where(known > LEAST_KNOWN * alone, known, 0.0),
    )


def _within(columns: FloatArray, weight: FloatArray, drift: float) -> tuple[FloatArray, float]:
    """Columns, (n_rows, k), by the inverse of the noise's covariance, and the logarithm of its determinant.

    The covariance of noise and walk is D + drift K with K_ij = min(i, j), whose inverse has three diagonals; by
    Woodbury's identity so has all that needs solving.
    """
    weighted, spread = weight[:, None] * columns, -float(np.log(weight[weight > 0]).sum())
    if not drift:
        return weighted, spread
    factor = cholesky_banded(_bands(weight, drift), overwrite_ab=True, check_finite=False)
    spread += weight.size * math.log(drift) + 2.0 * float(np.log(factor[1]).sum())
    found: FloatArray = weighted - weight[:, None] * cho_solve_banded((factor, False), weighted, check_finite=False)
    return found, spread


def _bands(weight: FloatArray, drift: float) -> FloatArray:
    """K^-1 / drift + D^-1 by its upper bands, (2, n_rows)."""
    bands = np.zeros((2, weight.size))
    bands[0, 1:] = -1.0 / drift
    bands[1] = 2.0 / drift + weight
    bands[1, -1] -= 1.0 / drift
    return bands


def _diagonal(weight: FloatArray, drift: float) -> FloatArray:
    """That of the covariance's inverse, (n_rows,).

    Of a matrix of three diagonals the inverse has its own by the pivots from both ends (Meurant, "A review on the
    inverse of symmetric tridiagonal and block tridiagonal matrices", SIAM Journal on Matrix Analysis 13, 1992).
    """
    if not drift:
        return weight
    bands = _bands(weight, drift)
    backwards = np.stack([bands[0], bands[1, ::-1]])  # the other diagonals are all alike
    down, up = (cholesky_banded(one, check_finite=False)[1] ** 2 for one in (bands, backwards))
    found: FloatArray = weight - weight**2 / (down + up[::-1] - bands[1])
    return found
