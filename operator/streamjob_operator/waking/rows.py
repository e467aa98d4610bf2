"""What has happened in a series of batches: key groups share the work in another way. Pure."""

from __future__ import annotations

import dataclasses
import sys
from collections.abc import Mapping

import numpy as np

from streamjob_operator.events import Event, EventKind
from streamjob_operator.series import BatchSeries
from streamjob_operator.steps.recent import MOST_CHANGES, began_at

BUSY = 0.95
"""Part of the time that batches take from which they follow each other at once."""
BACKLOG = 1.25
"""Times its trigger interval that the longest batch of a backlog takes: there is one while rows of two intervals wait,
and the batch that takes them is as long as that even on a third more executors than the rate needs."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rows:
    """The newest batches, the executor of each key group's newest task in them, (n_groups,), and each one's slots."""

    series: BatchSeries
    owners: tuple[str | None, ...]
    slots: Mapping[str, int]

    @property
    def size_bytes(self) -> int:
        """What all but a few columns of one value a row hold."""
        series = self.series
        owners = 0 if series.owners is None else series.owners.nbytes
        return series.busy_s.nbytes + series.records.nbytes + owners + sys.getsizeof(self.owners)


def change_times_s(series: BatchSeries | None) -> tuple[float, ...]:
    """Beginnings of the rows from which on key groups share the work in another way."""
    if series is None:
        return ()
    begun_s = series.ended_at_s - series.row_s
    return tuple(float(begun_s[row]) for row in series.changes)


def changed(known_s: tuple[float, ...], rows: Rows) -> Event | None:
    """The newest change, unless it is one of those known already, by the times at which they began.

    None where the load swings: no cycle counts its newest turn then.
    """
    series = rows.series
    found = series.changes
    if not 0 < len(found) <= MOST_CHANGES:
        return None
    if began_at(series, found[-1], known_s):
        return None
    return Event(kind=EventKind.LOAD_CHANGED, sentence=_sentence(series, found[-1]))


def moves_measured(known_until_s: float, series: BatchSeries) -> Event | None:
    """That the newest batch is the first one with key groups where they moved before, of a job whose batches follow
    each other at once; None where it had ended by a moment that is known already.

    Who is behind loses what an uneven placement takes with each batch, and one that is made for executors that come is
    made before anything has run on them. Others have time until the clock.
    """
    if series.moved.size < 2 or series.ended_at_s[-1] <= known_until_s:
        return None
    if series.moved[-1] > 0 or series.moved[-2] == 0 or series.batch_s[-1] < BUSY * series.row_s[-1]:
        return None
    return Event(kind=EventKind.MOVES_MEASURED, sentence="A batch has ended with key groups where they moved before.")


def backlog_gone(known_until_s: float, trigger_s: float | None, series: BatchSeries) -> Event | None:
    """That the newest batch was in time, of a job that was behind when it was looked at last and has been ever since;
    None where it had ended by that moment, and of a job without a trigger interval.

    Whom nobody saw behind has nothing to take back. So of two cycles on end this wakes the second at most, however
    often a job falls behind.
    """
    ends_s = series.ended_at_s
    if not trigger_s or ends_s.size < 2 or not ends_s[0] <= known_until_s < ends_s[-1]:
        return None
    since = series.from_row(int(np.searchsorted(ends_s, known_until_s, side="right")) - 1)
    seconds = since.batch_s / since.batches
    behind, newest_s = seconds[:-1], seconds[-1]
    if newest_s > trigger_s or (behind <= trigger_s).any() or behind.max() < BACKLOG * trigger_s:
        return None
    sentence = f"The backlog is gone: a batch has taken {newest_s:.3g} s of its {trigger_s:.3g} s."
    return Event(kind=EventKind.BACKLOG_GONE, sentence=sentence)


def _sentence(series: BatchSeries, row: int) -> str:
    batches = int(series.batches[row:].sum())
    since = "the newest batch" if batches == 1 else f"{batches} batches"
    return f"Key groups share the work differently since {since}."
