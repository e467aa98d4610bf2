"""Rows that came from the beginning of one batch to that of the next: sooner known than any mean of a window."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.values import Snapshot
from streamjob_planners.arrays import FloatArray, IntArray

TOLD_RATIO = 0.5
"""Part of the rate before from which rows that wait tell what came during a batch: a source that was asked when the
batch began, as Kafka is by Spark, tells nearly none."""
LONG_RATIO = 0.5
"""Part of the trigger interval that a batch must have taken for that: in a short one little came."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """Rows a second that came before each batch, around when, and for how many batches a value stands, each (n,),
    oldest first."""

    at_s: FloatArray
    rps: FloatArray
    batches: IntArray


def came(snapshot: Snapshot, capped: bool) -> Came | None:
    """By the rows of batches, which hold what came since the one before began, or less where the source hands out less.

    Where it does not (`capped` is False), what waits at the newest batch's end came while that ran. None of fewer than
    two batches.
    """
    series, rates = snapshot.series, snapshot.rates
    if series is None or series.batches.size < 2:
        return None
    begun_s = series.ended_at_s - series.batch_s / series.batches
    begun_s[-1] = series.ended_at_s[-1] - rates.last_batch_s
    between_s = np.diff(begun_s)
    if not (between_s > 0).all():
        return None
    at_s, rps, batches = (begun_s[1:] + begun_s[:-1]) / 2.0, series.input_rows[1:] / between_s, series.batches[1:]
    last_s, waiting = rates.last_batch_s, rates.lag_rows
    long = last_s > 0.0 and last_s >= LONG_RATIO * (rates.trigger_interval_s or 0.0)
    if not capped and long and waiting is not None and waiting >= TOLD_RATIO * rps[-1] * last_s:
        at_s, rps = np.append(at_s, begun_s[-1] + last_s / 2.0), np.append(rps, waiting / last_s)
        batches = np.append(batches, 1)
    return Came(at_s=at_s, rps=rps, batches=batches)
