"""A rate that rises steeply from batch to batch: how far it is expected to go."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray

STEEP = 1.15
"""Times the rate at its begin from which a rise counts: less than that is for the slower methods."""
STEPS = 2
"""Differences in a row that must show a rise: one may be a burst."""


def expected(at_s: FloatArray, rps: FloatArray, due_s: float) -> float | None:
    """Rows a second at a moment after the newest of these rates, oldest first, (n,) both; None where they do not rise.

    The rise goes on at the slower of its two newest paces, so that neither a burst nor a step counts as one, and for as
    long as it has lasted: of something of which nothing else is known half lasts longer than that (Gott, "Implications
    of the Copernican principle for our future prospects", Nature 363, 1993).
    """
    falls = np.flatnonzero(np.diff(rps) <= 0.0)
    begin = int(falls[-1]) + 1 if falls.size else 0
    if rps.size - 1 - begin < STEPS or rps[-1] <= STEEP * rps[begin]:
        return None
    slope = float((np.diff(rps[-1 - STEPS :]) / np.diff(at_s[-1 - STEPS :])).min())
    goes_on_s = min(max(due_s - at_s[-1], 0.0), at_s[-1] - at_s[begin])
    return float(rps[-2] + slope * (at_s[-1] - at_s[-2] + goes_on_s))
