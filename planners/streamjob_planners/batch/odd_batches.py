"""Which batches a line over rows is laid without: odd ones, and one that decides it alone.

A cold process's first batches, or one with a full collection of garbage, take many times what others take. Such a batch
is an additive outlier: it has seconds of its own that no row, no walk of the level and no noise explains. It shows by
its externally studentised residual, Student's by an indicator of its row, under the covariance of noise and walk (De
Jong and Penzer, "Diagnosing shocks in time series", Journal of the American Statistical Association 93, 1998), which
for the worst of n rows is held against the n-th part of a chance (Beckman and Cook, Technometrics 25, 1983). Two may
hide each other: each makes the noise seem large. So the worst, if it is somewhat suspicious, is left out for a try, and
another may show itself then (Rosner, Technometrics 25, 1983).

A batch with few rows among others with many has most of what is known of the slope, and its residual is small whatever
it took. Whether it is odd nobody can tell, so the line is laid without it as well, if it has more than thrice a row's
mean part in a line (Velleman and Welsch, "Efficient computing of regression diagnostics", The American Statistician 35,
1981). One such row goes at most: without it another one may have most, and without all of them nothing is known.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Sequence

import numpy as np
from scipy.special import stdtrit

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray
from streamjob_planners.batch.drifting_line import Fit, likeliest

CHANCE = 0.01
"""With which a series of normal noise has a row that seems odd."""
SUSPICIOUS = 0.3
"""With which it has one that is left out for a try."""
KNOWN_TIMES = 3.0
"""Times a row's mean part in a line, 2 of n, that one row may have of what is known of the slope."""
LEAST_KNOWN, MOST_KNOWN = 0.25, 0.5
"""That part is no less and no more."""
MOST_ROWS, MOST_PART = 3, 0.1
"""Rows that may be left out: so many, or this part of all if that is more."""
LEAST_ROWS = 6
"""Rows that stay."""
MOST_LOOKS = 8
"""A series with more odd batches than as many looks find keeps the rest of them."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class _Look:
    """A fit with its weights, (n_rows,), 0 for a row that is left out."""

    weight: FloatArray
    fit: Fit

    def room(self, most: int) -> int:
        """Rows that may be left out still, of so many."""
        return most - int(np.count_nonzero(self.weight == 0))

    @property
    def decided(self) -> bool:
        """Whether one row has too much of what is known of the slope."""
        most = float(np.clip(2.0 * KNOWN_TIMES / self.weight.size, LEAST_KNOWN, MOST_KNOWN))
        return float(self.share.max()) > most

    @functools.cached_property
    def odd(self) -> FloatArray:
        """Student's statistic of an indicator of each row, `fit.free` - 1 degrees of freedom, (n_rows,), 0 or more."""
        fit = self.fit
        square = np.divide(fit.left**2 / fit.noise, fit.known, out=np.zeros(fit.left.size), where=fit.known > 0)
        found: FloatArray = np.sqrt(square * (fit.free - 1) / np.maximum(fit.free - square, np.finfo(np.float64).eps))
        return found

    @functools.cached_property
    def share(self) -> FloatArray:
        """Part of what is known of the slope that would not be known without that row, (n_rows,), 0 to 1."""
        fit = self.fit
        more = np.divide(fit.weights**2, fit.known, out=np.zeros(fit.known.size), where=fit.known > 0)
        alone = (self.weight > 0) & (fit.known == 0)
        return np.where(alone, 1.0, more / (fit.variance + more))

    def bound(self, chance: float) -> float:
        """Of the largest of the statistics, by Bonferroni's inequality."""
        return float(stdtrit(self.fit.free - 1, 1.0 - chance / 2.0 / (self.fit.free + 2)))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slope:
    """Seconds for each row, and the standard error of that.

    Attributes:
        weights: `weights @ seconds` is the slope, (n_rows,); they are good for whatever drifts alike.
        counts: which rows it is laid over, (n_rows,); the others' weights are 0.
        most_known: largest part of what is known of it that hangs on one row, 0 to 1.
    """

    value: float
    error: float
    weights: FloatArray
    counts: BoolArray
    most_known: float


def slope_of(seconds: FloatArray, rows: FloatArray, weight: FloatArray) -> Slope:
    """Of seconds and rows of mean batches, oldest first, `weight` batches in each, (n_rows,) all, 4 or more.

    Raises ValueError where rows do not vary.
    """
    look = _look(seconds, rows, weight)
    return Slope(
        value=look.fit.slope,
        error=math.sqrt(look.fit.noise * look.fit.variance),
        weights=look.fit.weights,
        counts=look.weight > 0,
        most_known=float(look.share.max()),
    )


def _look(seconds: FloatArray, rows: FloatArray, weight: FloatArray) -> _Look:
    """Without odd rows, and without one that decides the line where none of the others would decide it then."""
    most = min(weight.size - LEAST_ROWS, max(MOST_ROWS, int(MOST_PART * weight.size)))
    look = _without_odd(_Look(weight=weight, fit=likeliest(seconds, rows, weight)), seconds, rows, most)
    if not look.decided or look.room(most) <= 0:
        return look
    fewer = _without(look, [int(look.share.argmax())], seconds, rows)
    if fewer is None:
        return look
    fewer = _without_odd(fewer, seconds, rows, most)
    return fewer if fewer.share.max() <= MOST_KNOWN else look


def _without_odd(look: _Look, seconds: FloatArray, rows: FloatArray, most: int) -> _Look:
    """Without odd rows, `most` of all."""
    for _ in range(MOST_LOOKS):
        room = look.room(most)
        fewer = _fewer(look, seconds, rows, room) if room > 0 else None
        if fewer is None:
            break
        look = fewer
    return look


def _fewer(look: _Look, seconds: FloatArray, rows: FloatArray, room: int) -> _Look | None:
    """Without an odd row, or several, of which `room` may go; None where none is odd."""
    odd = look.odd
    beyond = _peaks(odd, look.bound(CHANCE))
    if beyond.size:
        return _without(look, beyond[:room], seconds, rows)
    if room == 1 or odd.max() <= look.bound(SUSPICIOUS):
        return None
    tried = _without(look, [int(odd.argmax())], seconds, rows)
    return tried if tried is not None and tried.odd.max() > tried.bound(CHANCE) else None


def _peaks(odd: FloatArray, bound: float) -> IntArray:
    """Rows beyond the bound, the worst first, but for those beside a worse one, which may be what makes them odd."""
    beside = np.pad(odd, 1)
    found = np.flatnonzero((odd > bound) & (odd >= beside[:-2]) & (odd >= beside[2:]))
    return found[np.argsort(-odd[found])]


def _without(look: _Look, out: Sequence[int] | IntArray, seconds: FloatArray, rows: FloatArray) -> _Look | None:
    """None where the other rows do not vary."""
    weight = look.weight.copy()
    weight[out] = 0.0
    return _Look(weight=weight, fit=likeliest(seconds, rows, weight)) if np.ptp(rows[weight > 0]) > 0 else None
