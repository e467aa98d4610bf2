"""When the next cycle of a job is due, and what wakes it. Both bodies ask here. Time is an argument."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Hashable, Mapping

import numpy as np

from streamjob_agent.wire import AgentStatus
from streamjob_operator.events import Event, EventKind
from streamjob_operator.series import CLOCKS_S, BatchSeries
from streamjob_operator.values import CycleRecord, Reason, Snapshot
from streamjob_operator.waking.reports import reported
from streamjob_operator.waking.rows import Rows, backlog_gone, change_times_s, changed, moves_measured
from streamjob_operator.waking.slow import Turned, speed_events, turned_executors
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.capacity.pace import Pace, turned_at_s

EARLY_GAP_S = 5.0
"""Events that come in quick succession are looked at together: two cycles are at least this far apart, or a fifth of
the statistics period if that is less."""
FEWEST_ROWS = 3
"""Rows of a series from which its newest one is what was read last; of very large jobs fewer are kept, and merged."""
TOO_EARLY = (Reason.SETTLING, Reason.MOVES_PENDING)
"""Reasons of a cycle that came before anything could be done about what woke it."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What is known between two cycles; None where nothing is, or nothing new.

    `spec` is a mark of what a person can change; `rows` the newest batches, where they can be had without asking.
    """

    status: AgentStatus | None = None
    rows: Rows | None = None
    spec: Hashable = None


class Cadence:
    """The time of cycles. `first_s` is before which none makes sense; times are of any one clock."""

    def __init__(self, first_s: float = 0.0) -> None:
        self.first_s = first_s
        self._last_s: float | None = None
        self._seen = Seen()
        self._changes_s: tuple[float, ...] = ()
        self._known_until_s = -math.inf
        self._trigger_s: float | None = None
        self._left: tuple[Event, ...] = ()  # what woke a cycle that came too early for it
        self._left_until_s: float | None = None
        self._in_vain = 0  # cycles on end that moves on their way kept from acting, since any of them was made
        self._turned = Turned()
        self._paces: Mapping[str, Pace] = {}
        self._alike_since_s: float | None = None
        self._judged: tuple[Rows, tuple[Event, ...]] | None = None  # a look at many batches takes milliseconds

    def happened(self, seen: Seen) -> tuple[Event, ...]:
        """What has happened since the last cycle began, and what that one came too early for."""
        if self._last_s is None:
            return ()
        events = list(self._left)
        if self._seen.spec is not None and seen.spec != self._seen.spec:
            events.append(Event(kind=EventKind.SPEC_EDITED, sentence="The spec or an annotation was edited."))
        if self._seen.status is not None and seen.status is not None:
            events += reported(self._seen.status, seen.status)
        return (*events, *(() if seen.rows is None else self._measured(seen.rows)))

    def _measured(self, rows: Rows) -> tuple[Event, ...]:
        if self._judged is None or self._judged[0] is not rows:
            speeds = tuple(speed_events(self._turned, self._turned_in(rows)))
            # What executors' speeds do changes parts, too.
            change = None if speeds else changed((*self._changes_s, *turned_at_s(self._paces)), rows)
            moved = moves_measured(self._known_until_s, rows.series)
            gone = backlog_gone(self._known_until_s, self._trigger_s, rows.series)
            self._judged = (rows, (*speeds, *(one for one in (change, moved, gone) if one is not None)))
        return self._judged[1]

    def _turned_in(self, rows: Rows) -> Turned:
        return turned_executors(rows, self._paces, self._alike_since_s)

    def due_s(self, period_s: float, events: tuple[Event, ...], seen: Seen) -> float:
        """When the next cycle should begin, after these events; `seen` is what they were told by."""
        if self._last_s is None:
            return self.first_s
        return max(self._last_s + self._gap_s(period_s, events, seen), self.first_s)

    def _gap_s(self, period_s: float, events: tuple[Event, ...], seen: Seen) -> float:
        """While moves are on their way a cycle plans and may not act: the longer none of them is made, the rarer."""
        if not events:
            return period_s
        gap_s = min(EARLY_GAP_S, period_s / 5)
        if events != self._left or self._moved_on(seen):
            return gap_s
        return float(min(period_s, gap_s * 2 ** max(0, self._in_vain - 1)))

    def _moved_on(self, seen: Seen) -> bool:
        """Whether a batch has ended or moves were made since the last cycle began, as far as reports tell."""
        return seen.status is not None and _progress(seen.status) != _progress(self._seen.status)

    def set_back(self, by_s: float) -> None:
        """The clock was set back by so many seconds, so that what is due by it would come so much later."""
        self.first_s -= by_s
        self._last_s = None if self._last_s is None else self._last_s - by_s
        self._left_until_s = None if self._left_until_s is None else self._left_until_s - by_s

    def began(self, now_s: float, seen: Seen) -> None:
        """A cycle begins with this in view."""
        if self._moved_on(seen):
            self._in_vain = 0
        status = seen.status if seen.status is not None else self._seen.status
        self._last_s, self._seen = now_s, dataclasses.replace(seen, status=status, rows=None)
        self._knows(None if seen.rows is None else seen.rows.series)
        self._turned = Turned() if seen.rows is None else self._turned_in(seen.rows)

    def ended(self, record: CycleRecord, period_s: float) -> None:
        """The cycle has come to this. What woke it and could not be acted on yet stays, for one period at most."""
        if record.snapshot is not None:
            self._trigger_s = record.snapshot.rates.trigger_interval_s
        self._knows(None if record.snapshot is None else record.snapshot.series)
        known = Knowledge() if record.memory is None else record.memory.batches
        self._paces, self._alike_since_s = known.paces, known.alike_since_s
        waits = not record.verdict.act and record.verdict.reason is Reason.MOVES_PENDING
        self._in_vain = self._in_vain + 1 if waits else 0
        left, last_s = tuple(one for one in record.woken if _too_early(one, record)), self._last_s or 0.0
        until_s = last_s + period_s if self._left_until_s is None else self._left_until_s
        self._left = left if last_s < until_s else ()
        self._left_until_s = until_s if self._left else None

    def _knows(self, series: BatchSeries | None) -> None:
        self._changes_s = change_times_s(series) or self._changes_s
        if series is not None and series.ended_at_s.size:
            self._known_until_s = float(series.ended_at_s[-1])
        self._judged = None


def _progress(status: AgentStatus | None) -> list[tuple[str, int | None, int]]:
    """Of each query the newest batch, and how many key groups are on their way."""
    return [(one.run_id, one.batch_id, one.moves_pending) for one in status.queries] if status else []


def _too_early(event: Event, record: CycleRecord) -> bool:
    if record.snapshot is not None and not _shows(record.snapshot, event):
        return True
    return not record.verdict.act and record.verdict.reason in TOO_EARLY


def _shows(snapshot: Snapshot, event: Event) -> bool:
    """Whether what was measured holds the batch that the event is of: its end, or its rows while it runs."""
    rates = snapshot.rates
    if event.batch_ended_at_s is not None and not _apart(snapshot, event.batch_ended_at_s):
        return False
    began_at_s, running = event.batch_began_at_s, rates.running
    if began_at_s is None or rates.last_batch_at_s > began_at_s:
        return True
    return running is not None and running.began_at_s >= began_at_s


def _apart(snapshot: Snapshot, ended_at_s: float) -> bool:
    """Whether a batch was measured, and apart from those before it: alone in its row, or in a row that others follow.

    Where Prometheus scrapes less often than batches end, the first row with a change has batches of before it, too,
    and is the mean of both: two of three shifts were seen by the cycle that came with it, where a row has seven.
    """
    series = snapshot.series
    if snapshot.rates.last_batch_at_s < ended_at_s:
        return False
    if series is None or series.ended_at_s.size < FEWEST_ROWS:
        return True
    row = int(np.searchsorted(series.ended_at_s, ended_at_s - CLOCKS_S))
    return row < series.ended_at_s.size - 1 or int(series.batches[-1]) == 1
