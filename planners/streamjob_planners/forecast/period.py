"""A load that comes back after some minutes or hours: how long its period is, and how it goes on.

De Cheveigne and Kawahara, "YIN, a fundamental frequency estimator for speech and music", Journal of the Acoustical
Society of America 111, 2002, section II: the shortest lag after which the rates are as they were, which two periods are
enough for. Rounds that are higher or lower as a whole count as alike, so that of differences their variance is taken.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.forecast.track import Track

ALIKE = 0.15
"""Part of what rates usually differ by, squared, that they may differ by after a period: YIN has 0.1 to 0.15."""
LEAST_SLOTS = 12
"""Slots of the shortest period: fewer tell no shape."""
MEASURED = 0.5
"""Part of the slots that must have been measured."""
ROUNDS = 3
"""Earlier rounds that a forecast rests on."""
FADES = 0.6
"""What a round counts for where the one after it counts for 1 (Winters 1960)."""
NEAR = 0.25
"""Part of a period that is foretold at most: further on the load has turned and comes back, and who looks there holds
what the most of a round needs all the time."""
SMOOTH = 1 / 24
"""Part of a period within which rates are one: its noise is no shape."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Period:
    """Seconds after which the load is as it was, and of the slots of the track that shows it."""

    every_s: float
    slot_s: float


def newer(known: Period | None, changed: Iterable[Track]) -> Period | None:
    """The period that the finest of these tracks shows, else the known one; of the same period that of finer slots."""
    shown = (Period(every_s=every_s, slot_s=one.slot_s) for one in changed if (every_s := _period_s(one)) is not None)
    found = next(shown, known)
    return min(found, known, key=lambda one: one.slot_s) if found and known and same(found, known) else found


def same(one: Period, other: Period) -> bool:
    """Whether both are of one length, as well as slots can tell."""
    return abs(one.every_s - other.every_s) <= max(one.slot_s, other.slot_s)


def _period_s(track: Track) -> float | None:
    """Seconds of the period that the newest slots show twice at least; None where they show none."""
    means = track.known()
    most = means.size // 2
    if most <= LEAST_SLOTS or np.isfinite(means).mean() < MEASURED:
        return None
    apart = _apart(means, np.arange(1, most + 1))
    usual = np.cumsum(apart) / np.arange(1, most + 1)
    if not usual[-1] > 0.0:  # NaN, too
        return None
    ratios = apart / np.where(usual > 0.0, usual, 1.0)
    dips = (ratios[1:-1] <= ALIKE) & (ratios[1:-1] <= ratios[:-2]) & (ratios[1:-1] < ratios[2:])
    lags = np.flatnonzero(dips) + 2
    lags = lags[lags >= LEAST_SLOTS]
    return None if not lags.size else track.slot_s * _refined(ratios, int(lags[0]))


def rise(tracks: tuple[Track, ...], period: Period | None, from_s: float, to_s: float) -> float | None:
    """By how much the logarithm rose from one moment to another a period ago, and in the rounds before; None where
    nothing of either was measured, without a period, and for more than a part of it."""
    if period is None or to_s - from_s > NEAR * period.every_s:
        return None
    track = next(one for one in tracks if one.slot_s == period.slot_s)
    width_s, ago_s = SMOOTH * period.every_s, period.every_s * np.arange(1.0, ROUNDS + 1)
    rises = track.usual(to_s - ago_s, width_s) - track.usual(from_s - ago_s, width_s)
    weights = FADES ** np.arange(ROUNDS) * np.isfinite(rises)
    total = weights.sum()
    return float(weights @ np.nan_to_num(rises) / total) if total > 0.0 else None


def _apart(means: FloatArray, lags: IntArray) -> FloatArray:
    """Variance of what slots so far apart differ by, shape of `lags`; NaN where too few of both are known."""
    later = np.append(means, np.full(lags[-1], np.nan))[np.arange(means.size) + lags[:, None]]
    differences = later - means
    known = np.isfinite(differences)
    counts, differences = known.sum(axis=1), np.where(known, differences, 0.0)
    enough = counts >= MEASURED * (means.size - lags)
    at_least = np.maximum(counts, 1)
    mean = differences.sum(axis=1) / at_least
    return np.where(enough, (differences**2).sum(axis=1) / at_least - mean**2, np.nan)


def _refined(ratios: FloatArray, lag: int) -> float:
    """The lag at the bottom of the parabola through a dip and its neighbours, within one slot of it."""
    before, at, after = ratios[lag - 2 : lag + 1]
    return lag + float((before - after) / (2.0 * (before - 2.0 * at + after)))
