"""A rate that rises steeply from batch to batch: how far it is expected to go."""

from __future__ import annotations

import numpy as np
from scipy.special import stdtrit

from streamjob_planners.arrays import FloatArray

STEEP = 1.15
"""Times the rate at its begin from which a rise counts: less than that is for the slower methods."""
STEPS = 2
"""Differences in a row that must show a rise: one may be a burst."""
SURE = 5.0
"""Standard deviations of a rate by which a rise must have left the level before it. Rates that vary by chance rise
twice in a row at each sixth look."""
TELLING = 4
"""Differences before a rise that tell what rates vary by; with fewer of them STEEP alone decides."""
LINE_RATES = 5
"""Rates from which a line through them tells what they vary by beside it."""
LONGER = 1.25
"""Times as many rates as a line has for the next one that is tried."""
LINE_SURE, PACE_SURE = 0.9999, 0.95
"""Confidence (Student's t) that a line rises, and that it does as fast as is expected of it."""
APART = 2.0
"""Squared differences of neighbours over squares, of values that have nothing to do with each other."""


def expected(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """Rows a second at a moment after the newest of these rates, oldest first, (n,) both; None where they do not rise.

    Two ways to see a rise, the higher of which counts: batch after batch, which the newest three may show, and as a
    line through the newest rates, which one that falls by chance does not end.
    """
    seen = [one for one in (_batch_by_batch(at_s, rps, due_s), _line(at_s, rps, due_s)) if one is not None]
    return max(seen, default=None)


def _batch_by_batch(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """By rates that all rise since the last that fell.

    Such a rise stands out from what the rates before it vary by, as differences of neighbours tell (von Neumann,
    "Distribution of the ratio of the mean square successive difference to the variance", Annals of Mathematical
    Statistics 12, 1941), so that a slow change of the level is no noise. It goes on at the slower of its two newest
    paces, so that neither a burst nor a step counts as one, and for as long as it has lasted: of something of which
    nothing else is known half lasts longer than that (Gott, "Implications of the Copernican principle for our future
    prospects", Nature 363, 1993).
    """
    falls = np.flatnonzero(np.diff(rps) <= 0.0)
    begin = int(falls[-1]) + 1 if falls.size else 0
    if rps.size - 1 - begin < STEPS or rps[-1] <= STEEP * rps[begin] or _by_chance(rps[: begin + 1], rps[-1]):
        return None
    slope = float((np.diff(rps[-1 - STEPS :]) / np.diff(at_s[-1 - STEPS :])).min())
    goes_on_s = min(max(due_s - at_s[-1], 0.0), at_s[-1] - at_s[begin])
    return float(rps[-2] + slope * (at_s[-1] - at_s[-2] + goes_on_s))


def _by_chance(before: FloatArray, newest: float) -> bool:
    """Whether rates that vary as those before a rise, oldest first, may well give the newest one."""
    steps = np.diff(before)
    if steps.size < TELLING:
        return False
    return bool(newest - np.median(before) <= SURE * np.sqrt(np.mean(steps**2) / 2.0))


def _line(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """By a line through the newest rates, however many show the most; for as long as it has lasted, as above."""
    lines = (_line_of(at_s[-many:], rps[-many:], due_s) for many in _lengths(rps.size))
    return max((one for one in lines if one is not None), default=None)


def _lengths(most: int) -> list[int]:
    """Of lines up to that many rates, each about a quarter longer than the one before."""
    found, many = [], LINE_RATES
    while many < most:
        found.append(many)
        many = max(many + 1, int(LONGER * many))
    return [*found, most] if most >= LINE_RATES else []


def _line_of(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """By the line through all of these rates, by least squares, at a pace that it surely has."""
    apart_s, free = at_s - at_s.mean(), rps.size - 2
    pace = float(apart_s @ rps / (apart_s @ apart_s))
    line = rps.mean() + pace * apart_s
    error = float(np.sqrt(((rps - line) ** 2).sum() / free / (apart_s @ apart_s)))
    if pace <= stdtrit(free, LINE_SURE) * error or line[-1] <= STEEP * line[0] or _goes_on(rps - line):
        return None
    sure = max(0.0, pace - float(stdtrit(free, PACE_SURE)) * error)
    return float(line[-1] + sure * min(max(due_s - at_s[-1], 0.0), at_s[-1] - at_s[0]))


def _goes_on(beside: FloatArray) -> bool:
    """Whether what rates are off a line by, oldest first, goes on from one to the next, by von Neumann's ratio: then
    they wander, and a line through them foretells nothing."""
    return bool((np.diff(beside) ** 2).sum() < APART * (beside**2).sum())
