"""What has happened in a series of batches: key groups share the work anew, or an executor became slow. Pure."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.events import Event, EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.recent import MOST_CHANGES
from streamjob_planners.batch.change import changes
from streamjob_planners.capacity.pace import FEWEST_GROUPS, LEAST_FACTOR
from streamjob_planners.model import FloatArray, IntArray

SAME_ROWS = 3
"""Rows between two cuts up to which they are one change: with more rows after it, a cut may be found a row off."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The newest batches, and the executor of each key group's newest task in them, (n_groups,)."""

    series: BatchSeries
    owners: tuple[str | None, ...]


def change_times_s(series: BatchSeries | None) -> tuple[float, ...]:
    """Beginnings of the rows from which on key groups share the work in another way."""
    if series is None:
        return ()
    return tuple(_begin_s(series, row) for row in changes(series.busy_s, series.batches))


def changed(known_s: tuple[float, ...], rows: Rows) -> Event | None:
    """The newest change, unless it is one of those known already, by the times at which they began.

    None where the load swings: no cycle counts its newest turn then.
    """
    series = rows.series
    found = changes(series.busy_s, series.batches)
    if not 0 < len(found) <= MOST_CHANGES:
        return None
    row = found[-1]
    first, last = max(0, row - SAME_ROWS), min(series.ended_at_s.size - 1, row + SAME_ROWS)
    if any(_begin_s(series, first) <= one <= _begin_s(series, last) for one in known_s):
        return None
    return _slow(rows, row) or Event(kind=EventKind.LOAD_CHANGED, sentence=_sentence(series, row))


def _begin_s(series: BatchSeries, row: int) -> float:
    return float(series.ended_at_s[row] - series.row_s[row])


def _sentence(series: BatchSeries, row: int) -> str:
    return f"Key groups share the work differently since {int(series.batches[row:].sum())} batches."


def _slow(rows: Rows, row: int) -> Event | None:
    """Where one factor per executor explains the change, and one executor's is the work of others: it became slow."""
    series, names = rows.series, sorted({one for one in rows.owners if one is not None})
    if len(names) < 2:
        return None
    of = np.array([names.index(one) if one is not None else len(names) for one in rows.owners], dtype=np.int64)
    factor = _factors(series, of, row, len(names))
    slowest = int(np.argmax(factor))
    if factor[slowest] < LEAST_FACTOR or int((of == slowest).sum()) < FEWEST_GROUPS:
        return None
    even = series.busy_s.copy()
    even[row:] /= np.append(factor, 1.0)[of]  # the last one is that of groups without an executor
    if any(abs(one - row) <= SAME_ROWS for one in changes(even, series.batches)):
        return None
    sentence = (
        f"Executor {names[slowest]} is slow: its key groups take {factor[slowest]:.2g} times as long as before, "
        "those of others do not."
    )
    return Event(kind=EventKind.EXECUTOR_SLOW, sentence=sentence)


def _factors(series: BatchSeries, of: IntArray, row: int, executors: int) -> FloatArray:
    """By how much the tasks of each executor's key groups take longer after the row, against most executors."""
    before, after = (np.median(part / part.sum(axis=1, keepdims=True), axis=0) for part in _parts(series, row))
    seen = (before > 0) & (after > 0)
    ratio = np.log(np.where(seen, after, 1.0) / np.where(seen, before, 1.0))
    medians = np.zeros(executors)
    for at in range(executors):
        mine = ratio[seen & (of == at)]
        medians[at] = float(np.median(mine)) if mine.size else 0.0
    usual = np.sort(medians)[(executors - 1) // 2]  # of two executors the faster one is the usual
    return np.asarray(np.exp(medians - usual), dtype=np.float64)


def _parts(series: BatchSeries, row: int) -> tuple[FloatArray, FloatArray]:
    return series.busy_s[:row], series.busy_s[row:]
