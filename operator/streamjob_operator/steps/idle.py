"""A query that waits for data: it does nothing, still holds its state, and its next batch may come at any time."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.values import Snapshot
from streamjob_planners.model import FloatArray

LEAST_LOAD = 0.01
"""Slots that key groups of an idle query may seem to keep busy, all together: next to nothing."""
UNKNOWN_S = 0.1
"""Seconds of every key group's task where nothing is known of any: all are alike."""


def as_known(snapshot: Snapshot) -> Snapshot:
    """The snapshot of an idle query as if one batch like those before had run in it, so that who leaves an executor
    finds the right one; any other as it is.

    The window is made so long that this batch is next to no load.
    """
    if snapshot.rates.idle_since_s is None:
        return snapshot
    busy_s = _known_s(snapshot)
    return dataclasses.replace(
        snapshot,
        busy_s=busy_s,
        window_s=max(snapshot.window_s, float(busy_s.sum()) / LEAST_LOAD),
        rates=dataclasses.replace(snapshot.rates, batches=1, mean_batch_s=snapshot.rates.last_batch_s),
        series=None,
    )


def _known_s(snapshot: Snapshot) -> FloatArray:
    """Seconds of each key group's task in a mean batch of the series, (n_groups,)."""
    series = snapshot.series
    if series is None or not series.busy_s.any():
        return np.full(len(snapshot.group_ids), UNKNOWN_S)
    mean_s: FloatArray = series.busy_s.sum(axis=0) / float(series.batches.sum())
    return mean_s


def waits(snapshot: Snapshot) -> str | None:
    """Since when the query waits, for a person; None where it does not."""
    since_s = snapshot.rates.idle_since_s
    if since_s is None:
        return None
    return f"the query has waited for data for {format_duration(max(0, round(snapshot.taken_at_s - since_s)))}"
