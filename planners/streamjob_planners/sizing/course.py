"""Where a backlog goes: batch after batch on today's executors, then on those that come."""

from __future__ import annotations

import dataclasses

from streamjob_planners.sizing.pace import Pace

MOST_BATCHES = 2000
"""Batches after which a backlog that is still there counts as one that stays."""
LEAST_S = 1e-3
"""A batch takes that long at least, so that time goes by."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outlook:
    """The world that a course runs through; seconds are counted from now.

    Attributes:
        rate_rps: rows that arrive a second.
        backlog_rows: rows that waited when the newest batch had ended, 0 or more.
        read_ago_s: seconds since then: the batch that runs now began with those rows.
        cold_s: seconds that the first batch on executors that come takes longer than later ones, 0 or more.
        trigger_s: a batch is not begun sooner than so long after the one before; 0 without a trigger.
        most_rows: rows that the source hands out to one batch; None without such a cap.
        ready_s: when other executors than today's are there and have their share.
    """

    rate_rps: float
    backlog_rows: float
    trigger_s: float
    ready_s: float
    most_rows: float | None = None
    read_ago_s: float = 0.0
    cold_s: float = 0.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """What came of it: when no more waited than one trigger brings (None: not within the horizon), the most rows that
    waited, and the longest batch in seconds."""

    gone_s: float | None
    most_waiting: float
    longest_s: float


def course(outlook: Outlook, today: Pace, then: Pace, horizon_s: float) -> Course:
    """Batch after batch with mean seconds, up to the horizon.

    A batch takes what waits at its start, the source's cap at most. One that began before the others came, such as the
    one that runs now, is not made shorter by them: rows that arrive until it ends wait for the next one.
    """
    now_s, waiting, most, longest_s = -outlook.read_ago_s, outlook.backlog_rows, outlook.backlog_rows, 0.0
    cold_s = outlook.cold_s if then.executors > today.executors else 0.0
    for _ in range(MOST_BATCHES):
        pace = then if now_s >= outlook.ready_s else today
        if _settled(outlook, pace, waiting) and now_s >= outlook.ready_s:
            return Course(gone_s=now_s, most_waiting=most, longest_s=longest_s)
        if now_s > horizon_s:
            break
        taken = waiting if outlook.most_rows is None else min(waiting, outlook.most_rows)
        batch_s = max(pace.batch_s(taken), LEAST_S)
        if pace is then:
            batch_s, cold_s = batch_s + cold_s, 0.0
        step_s = max(batch_s, outlook.trigger_s)
        waiting += outlook.rate_rps * step_s - taken
        now_s, most, longest_s = now_s + step_s, max(most, waiting), max(longest_s, batch_s)
    return Course(gone_s=None, most_waiting=most, longest_s=longest_s)


SETTLED = 1.1
"""Times the rows of a settled batch up to which nothing counts as backlog."""


def _settled(outlook: Outlook, pace: Pace, waiting: float) -> bool:
    """Whether no more waits than the next batch takes anyway."""
    rows = pace.settled_rows(outlook.rate_rps, outlook.trigger_s)
    return rows is not None and waiting <= SETTLED * max(rows, outlook.rate_rps * LEAST_S)
