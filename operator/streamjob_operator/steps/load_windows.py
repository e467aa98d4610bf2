"""The load of each key group, window by window, as planners for loads that swing want it."""

from __future__ import annotations

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.recent import MOST_CHANGES
from streamjob_planners.model import FloatArray, IntArray

NEARLY = 0.75
"""Part of the batches of most rows that a window must hold."""


def load_windows(series: BatchSeries | None, cores: int, speed: FloatArray) -> FloatArray | None:
    """Percent points of an executor with so many slots, (n_windows, n_groups), oldest first; None without a series.

    `speed` is that of each key group's executor, (n_groups,). Windows hold about as many batches each: what chance does
    in rows of fewer would look like loads that swing. So would a change: rows of before one are taken as if key groups
    had shared their work as they do since.
    """
    if series is None:
        return None
    starts = _starts(series.batches)
    busy_s, length_s = np.add.reduceat(_shared_as_now(series), starts, axis=0), np.add.reduceat(series.row_s, starts)
    return np.asarray(100.0 * busy_s * speed / (length_s[:, None] * cores), dtype=np.float64)


def _shared_as_now(series: BatchSeries) -> FloatArray:
    """Seconds of each key group in each row, (n_rows, n_groups): what a row was above or below its part of the series,
    of the share that the key group has since the newest change. As measured where loads swing, or nothing changed."""
    starts = (0, *series.changes)
    if not 1 < len(starts) <= 1 + MOST_CHANGES:
        return series.busy_s
    shares = _shares(np.add.reduceat(series.busy_s, starts, axis=0))
    part = np.repeat(np.arange(len(starts)), np.diff((*starts, series.batches.size)))
    ratio = np.divide(shares[-1], shares, out=np.zeros_like(shares), where=shares > 0)
    began = np.where(shares > 0, 0.0, shares[-1])  # what did nothing before has no course of its own
    return np.asarray(series.busy_s * ratio[part] + series.busy_s.sum(axis=1)[:, None] * began[part])


def _shares(busy_s: FloatArray) -> FloatArray:
    """Of the work of its row, each key group's part, (n_rows, n_groups)."""
    total_s = busy_s.sum(axis=1)[:, None]
    return np.asarray(np.divide(busy_s, total_s, out=np.zeros_like(busy_s), where=total_s > 0))


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
