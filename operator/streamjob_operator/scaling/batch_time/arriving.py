"""Rows that the source brings, those that wait, and where it hands out no more."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.observed import BATCHES_IN_LAG, OthersLag
from streamjob_operator.scaling.batch_time.came import Came, came
from streamjob_operator.scaling.batch_time.state import LagSeen
from streamjob_operator.series import CLOCKS_S
from streamjob_operator.values import Snapshot
from streamjob_planners.sizing import capped

MOST_LAGS = 16
"""Readings of the lag that are kept."""
LEAST_TRIGGERS = 0.5
"""Trigger intervals of rows from which what waits besides counts as a backlog."""
GROWS = 1.05
"""Times what it was, and what one batch takes, that a lag must be to have grown: readings lie anywhere between two
batches."""

STEP = 1.15
"""Times the window's rate from which that of the newest batches counts alone: a surge does not wait for a window."""
STEP_BATCHES = 2
"""Batches that must show it: one may be a burst."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Arriving:
    """Rows a second that arrive; rows of the backlog; whether the lag grows; the source's cap on a batch, if any.

    `waiting_rows`: all that waited when the newest batch had ended, which the batch that runs now began with; as that
    tells itself where its rows are known.
    `came`: what came before each batch, None where that is not known.
    `other`: the query whose rows those that wait stand for, None where they are the leading one's own.
    """

    rate_rps: float
    backlog_rows: float
    waiting_rows: float
    grows: bool
    most_rows: float | None
    came: Came | None
    other: OthersLag | None = None


def with_lag(lags: tuple[LagSeen, ...], snapshot: Snapshot) -> tuple[LagSeen, ...]:
    """The readings with this one; none where the source does not tell."""
    rows, at_s = snapshot.rates.waiting_rows, snapshot.taken_at_s
    if rows is None:
        return ()
    if lags and at_s <= lags[-1].at_s:
        return lags
    return (*lags, LagSeen(at_s=at_s, rows=rows))[-MOST_LAGS:]


def arriving(snapshot: Snapshot, lags: tuple[LagSeen, ...], objective_s: float | None) -> Arriving:
    """What arrives is what was taken and what waits more than before; without a lag what was taken.

    `lags` holds this snapshot's reading, `objective_s` is what a batch may take: long batches of a backlog are no
    measure of what may wait. Without a lag a source with a cap looks like one that brings no more.
    """
    rates, trigger_s = snapshot.rates, snapshot.rates.trigger_interval_s or 0.0
    most_rows = cap_of(snapshot)
    known = came(snapshot, most_rows is not None)
    rate_rps = max(0.0, _window_rps(snapshot, lags) if lags or known is None else _come_rps(known, snapshot))
    newest_rps = None if known is None else _newest_rps(known)
    if newest_rps is not None and newest_rps > STEP * rate_rps:
        rate_rps = newest_rps
    batch_rows = (max(objective_s or 0.0, trigger_s) or rates.mean_batch_s) * rate_rps
    waiting_rows = max(rates.waiting_rows or 0.0, 0.0 if rates.running is None else rates.running.rows)
    backlog = max(0.0, waiting_rows - BATCHES_IN_LAG * batch_rows)
    least = LEAST_TRIGGERS * (trigger_s or rates.mean_batch_s) * rate_rps
    before = lags[-2].rows if len(lags) > 1 else None
    return Arriving(
        rate_rps=rate_rps,
        backlog_rows=backlog if backlog > least else 0.0,
        waiting_rows=waiting_rows,
        grows=before is not None and (rates.waiting_rows or 0.0) > GROWS * max(before, batch_rows),
        most_rows=most_rows,
        came=known,
        other=None if rates.others_lag is None or waiting_rows > rates.others_lag.rows else rates.others_lag,
    )


def cap_of(snapshot: Snapshot) -> float | None:
    """Rows that the source hands out to one batch, where the newest batches show such a cap."""
    series = snapshot.series
    if series is None:
        return None
    rows = series.input_rows / np.maximum(series.batches, 1)
    return capped.most_rows(rows, snapshot.rates.lag_rows)


def _window_rps(snapshot: Snapshot, lags: tuple[LagSeen, ...]) -> float:
    """Rows a second that were taken within the window, and by which the lag has grown since the reading that is nearest
    to its begin. Where that is more than a batch off, both are since then: a backlog that went before the window is no
    part of its rate."""
    rates, taken_rps = snapshot.rates, snapshot.rates.input_rps
    if len(lags) < 2:
        return taken_rps
    start_s, now = snapshot.taken_at_s - snapshot.window_s, lags[-1]
    before = min(lags[:-1], key=lambda one: abs(one.at_s - start_s))
    if abs(before.at_s - start_s) > max(rates.mean_batch_s, rates.trigger_interval_s or 0.0):
        taken_rps = _taken_rps(snapshot, before.at_s)
    return taken_rps + (now.rows - before.rows) / (now.at_s - before.at_s)


def _come_rps(known: Came, snapshot: Snapshot) -> float:
    """Rows a second that came within the window, or as those of its one batch: batches on end that work off what
    gathered during a long one take more than comes."""
    return min(snapshot.rates.input_rps, known.mean_rps(snapshot.taken_at_s - snapshot.window_s))


def _taken_rps(snapshot: Snapshot, since_s: float) -> float:
    """Rows a second of the batches since a moment; the window's where the series does not go back to it."""
    series = snapshot.series
    if series is None:
        return snapshot.rates.input_rps
    later, first_s = series.within(since_s), series.ended_at_s[0] - series.row_s[0]
    if not later.any() or first_s > since_s + CLOCKS_S:
        return snapshot.rates.input_rps
    return float(series.input_rows[later].sum() / series.row_s[later].sum())


def _newest_rps(known: Came) -> float | None:
    """Rows a second that came before each of the newest batches at least; None where too few are known.

    Where a row stands for several batches, their mean counts.
    """
    enough = np.flatnonzero(np.cumsum(known.batches[::-1]) >= STEP_BATCHES)
    return float(known.rps[-1 - int(enough[0]) :].min()) if enough.size else None
