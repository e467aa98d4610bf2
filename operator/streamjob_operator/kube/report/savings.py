"""Executor-hours, counted from turn to turn. Pure."""

from __future__ import annotations

import time

from streamjob_operator.kube.models.savings import MOST_MONTHS, Month, SavingsStatus

LONGEST_GAP_S = 3600.0
"""Time between two counts that may be counted: of a longer one nobody knows what was there."""
DIGITS = 5


def counted(before: SavingsStatus | None, executors: int, now_s: float, period_s: float = 0.0) -> SavingsStatus:
    """With the executors that are there now, taken as there since the count before.

    One is due once in each statistics period, `period_s`, and may come half of one late.
    """
    if before is None or now_s - before.counted_at > max(LONGEST_GAP_S, 2 * period_s):
        return SavingsStatus(counted_at=now_s, months=() if before is None else before.months)
    hours = max(0.0, now_s - before.counted_at) / 3600.0
    name = time.strftime("%Y-%m", time.gmtime(now_s))
    *older, last = before.months or (Month(month=name, hours=0.0, executor_hours=0.0, most=0),)
    if last.month != name:
        older, last = [*older, last], Month(month=name, hours=0.0, executor_hours=0.0, most=0)
    grown = Month(
        month=name,
        hours=round(last.hours + hours, DIGITS),
        executor_hours=round(last.executor_hours + hours * executors, DIGITS),
        most=max(last.most, executors),
    )
    return SavingsStatus(counted_at=now_s, months=(*older, grown)[-MOST_MONTHS:])
