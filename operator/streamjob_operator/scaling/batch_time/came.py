"""Rows that came from the beginning of one batch to that of the next: sooner known than any mean of a window."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_operator.values import QueryRates, Snapshot
from streamjob_planners.arrays import BoolArray, FloatArray, IntArray

TOLD_RATIO = 0.5
"""Part of the rate before from which rows that wait tell what came during a batch: a source that was asked when the
batch began, as Kafka is by Spark, tells nearly none."""
LONG_RATIO = 0.5
"""Part of the trigger interval that a batch must have taken for that: in a short one little came."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Came:
    """Rows a second that came before each batch, around when, within how many seconds, and for how many batches a value
    stands, each (n,), oldest first."""

    at_s: FloatArray
    rps: FloatArray
    over_s: FloatArray
    batches: IntArray

    def mean_rps(self, since_s: float) -> float:
        """Rows a second of what came since then; of the newest value where all are older."""
        newest = self.at_s >= min(since_s, float(self.at_s[-1]))
        return float(self.rps[newest] @ self.over_s[newest] / self.over_s[newest].sum())


def came(snapshot: Snapshot, capped: bool) -> Came | None:
    """By the rows of batches, which hold what came since the one before began, or less where the source hands out less.

    Where it does not (`capped` is False), the batch that runs tells what came since the newest one began, or what waits
    at the end of that. None of fewer than two batches.
    """
    series, rates = snapshot.series, snapshot.rates
    if series is None or series.batches.size < 2:
        return None
    begun_s = series.ended_at_s - series.batch_s / series.batches
    begun_s[-1] = series.ended_at_s[-1] - rates.last_batch_s
    told = _told(series, rates.trigger_interval_s)
    begun_s, between_s = begun_s[told], np.diff(begun_s[told])
    if between_s.size == 0 or not (between_s > 0).all():
        return None
    rows, batches = (np.diff(np.cumsum(one)[told]) for one in (series.input_rows, series.batches))
    at_s, rps = (begun_s[1:] + begun_s[:-1]) / 2.0, rows / between_s
    more = None if capped else _since_newest(rates, begun_s[-1], rps[-1])
    if more is not None:
        at_s, rps, batches = np.append(at_s, more[0]), np.append(rps, more[1]), np.append(batches, 1)
        between_s = np.append(between_s, 2.0 * (more[0] - begun_s[-1]))
    return Came(at_s=at_s, rps=rps, over_s=between_s, batches=batches)


def _told(series: BatchSeries, trigger_s: float | None) -> BoolArray:
    """Rows whose newest batch is known to have begun when it is taken to, (n_rows,): of several batches that waited for
    their trigger, or of one. Of several in a backlog the newest may be much longer than their mean."""
    alone = series.batches == 1
    in_time = series.batch_s <= (np.inf if trigger_s is None else trigger_s) * series.batches
    told: BoolArray = alone | in_time
    told[-1] = True
    return told


def _since_newest(rates: QueryRates, begun_s: float, before_rps: float) -> tuple[float, float] | None:
    """Around when, and rows a second that came since the newest ended batch began; None where nobody tells."""
    running, last_s, waiting = rates.running, rates.last_batch_s, rates.lag_rows
    if running is not None and running.began_at_s > begun_s:
        since_s = running.began_at_s - begun_s
        if running.rows >= before_rps * since_s:  # with fewer it may not have read all
            return begun_s + since_s / 2.0, running.rows / since_s
    long = last_s > 0.0 and last_s >= LONG_RATIO * (rates.trigger_interval_s or 0.0)
    if long and waiting is not None and waiting >= TOLD_RATIO * before_rps * last_s:
        return begun_s + last_s / 2.0, waiting / last_s
    return None
