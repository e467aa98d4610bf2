"""Loads do not cross a change: once key groups share the work in another way, older batches are no measure."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_operator.values import Snapshot
from streamjob_planners.batch.change import changes

MOST_CHANGES = 2
"""More changes than this within a series are a load that swings: its mean is what to plan for, not its newest turn."""


def since_change(snapshot: Snapshot) -> tuple[Snapshot, float | None]:
    """The snapshot with the load of the batches since the newest change within its window, and when that was.

    The same snapshot and None where no change is seen. Busy seconds, the window's length and its number of batches
    speak of the part since then; what is counted per window besides (traffic, other tasks) is taken in proportion.
    """
    series = snapshot.series
    if series is None:
        return snapshot, None
    rows = changes(series.busy_s, series.batches)
    if not 0 < len(rows) <= MOST_CHANGES:
        return snapshot, None
    changed_at_s = float(series.ended_at_s[rows[-1]] - series.row_s[rows[-1]])
    if changed_at_s <= snapshot.taken_at_s - snapshot.window_s:
        return snapshot, None
    return _cut(snapshot, series, rows[-1]), changed_at_s


def _cut(snapshot: Snapshot, series: BatchSeries, row: int) -> Snapshot:
    busy_s, window_s = series.busy_s[row:].sum(axis=0), float(series.row_s[row:].sum())
    batches, before = int(series.batches[row:].sum()), snapshot.rates
    per_batch, part = batches / before.batches, window_s / snapshot.window_s
    traffic, sent = snapshot.traffic_bytes, snapshot.traffic_sent_bytes
    rates = dataclasses.replace(
        before,
        batches=batches,
        mean_batch_s=float(series.batch_s[row:].sum()) / batches,
        other_busy_s=before.other_busy_s * per_batch,
    )
    return dataclasses.replace(
        snapshot,
        busy_s=np.asarray(busy_s, dtype=np.float64),
        window_s=window_s,
        rates=rates,
        traffic_bytes=None if traffic is None else traffic * part,
        traffic_sent_bytes=None if sent is None else sent * part,
    )
