"""The load of each key group, window by window, as planners for loads that swing want it."""

from __future__ import annotations

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_planners.model import FloatArray, IntArray

NEARLY = 0.75
"""Part of the batches of most rows that a window must hold."""


def load_windows(series: BatchSeries | None, cores: int, speed: FloatArray) -> FloatArray | None:
    """Percent points of an executor with so many slots, (n_windows, n_groups), oldest first; None without a series.

    `speed` is that of each key group's executor, (n_groups,). Windows hold about as many batches each: what chance does
    in rows of fewer would look like loads that swing.
    """
    if series is None:
        return None
    starts = _starts(series.batches)
    busy_s, length_s = np.add.reduceat(series.busy_s, starts, axis=0), np.add.reduceat(series.row_s, starts)
    return np.asarray(100.0 * busy_s * speed / (length_s[:, None] * cores), dtype=np.float64)


def _starts(batches: IntArray) -> IntArray:
    """First rows of the windows; what is left at the end is part of the last one."""
    least, starts, held = NEARLY * float(np.median(batches)), [0], 0
    for row, count in enumerate(batches.tolist()):
        if held >= least:
            starts, held = [*starts, row], 0
        held += count
    if held < least and len(starts) > 1:
        starts.pop()
    return np.array(starts, dtype=np.int64)
