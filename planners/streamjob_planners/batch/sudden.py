"""A change that one batch shows by itself: some key groups had less work than ever, others more than ever.

What makes a single batch odd (a straggler, an executor that is slow for a batch, a collection of garbage) only takes
time; nothing gives it. So a batch counts alone when much of the work is gone from some key groups and has come to
others, each beyond all of its earlier batches: in seconds, and in seconds beside the median key group's, as
everything may take longer or less. By order statistics the chance for one group to be beyond n earlier batches on one
side is 1 / (n + 1), whatever its distribution is (Wilks, "Determination of sample sizes for setting tolerance limits",
Annals of Mathematical Statistics 12, 1941); here several have to be on both.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray

LEAST_EARLIER = 10
"""Earlier rows below which the most and the least of a key group say little."""
BEYOND = 1.1
"""Factor by which the newest row must be beyond the earlier ones."""
MOVED = 0.15
"""Part of the work that must have gone from the ones, and come to the others."""
LEAST_GROUPS = 2
"""Key groups on either side, at least."""


def sudden(per_batch: FloatArray) -> bool:
    """Whether the newest row alone shows that key groups share the work in another way than in all rows before it.

    `per_batch` (n_rows, n_groups) are seconds of key groups in a batch, oldest row first.
    """
    if len(per_batch) <= LEAST_EARLIER or per_batch.shape[1] < 2 * LEAST_GROUPS:
        return False
    usual = np.median(per_batch[:-1], axis=0)
    if usual.sum() <= 0:
        return False
    beside = per_batch / _size(per_batch, usual)[:, None]
    less, more = _less(per_batch) & _less(beside), _less(-per_batch) & _less(-beside)
    gone, come = (usual - per_batch[-1])[less], (per_batch[-1] - usual)[more]
    enough = MOVED * float(usual.sum())
    return min(gone.size, come.size) >= LEAST_GROUPS and min(float(gone.sum()), float(come.sum())) >= enough


def _size(per_batch: FloatArray, usual: FloatArray) -> FloatArray:
    """How large each row is for the median key group, (n_rows,)."""
    worked = usual > 0
    size = np.median(per_batch[:, worked] / usual[worked], axis=1)
    return np.where(size > 0, size, 1.0)


def _less(values: FloatArray) -> BoolArray:
    """Where the newest row is below all earlier ones, by BEYOND."""
    least = values[:-1].min(axis=0)
    return np.asarray(values[-1] < np.where(least > 0, least / BEYOND, least * BEYOND), dtype=np.bool_)
