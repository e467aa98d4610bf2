"""Rows that came while a long batch ran: what was taken says too little of what arrives."""

from __future__ import annotations

import numpy as np

from streamjob_operator.values import Snapshot

LEAST_RATIO = 1.25
"""Batches of a steady job vary: what is below this is noise, and must not keep executors."""


def late_ratio(snapshot: Snapshot) -> float:
    """Rows that arrived over those that a second of the window took, at least 1.

    A batch takes what came since the batch before it had begun. So the window's batches hold the rows of the time from
    the beginning of the batch before them to that of the newest one, which is shorter than the window where batches
    grow. 1.0 below LEAST_RATIO, without a series, and where no batch is known before the window.
    """
    series = snapshot.series
    if series is None:
        return 1.0
    rows = np.flatnonzero(series.within(snapshot.taken_at_s - snapshot.window_s))
    if not rows.size or rows[0] == 0:
        return 1.0
    begun_s = series.ended_at_s - series.batch_s / series.batches
    arrived_s = float(begun_s[rows[-1]] - begun_s[rows[0] - 1])
    ratio = float(series.row_s[rows].sum()) / arrived_s if arrived_s > 0 else 1.0
    return ratio if ratio >= LEAST_RATIO else 1.0
