"""A rate that rises steeply from batch to batch: how far it is expected to go."""

from __future__ import annotations

import numpy as np

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


def expected(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """Rows a second at a moment after the newest of these rates, oldest first, (n,) both; None where they do not rise.

    A rise stands out from what the rates before it vary by, as differences of neighbours tell (von Neumann,
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
