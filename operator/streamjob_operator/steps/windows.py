"""Recurring times in which something is forbidden."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Iterator
from zoneinfo import ZoneInfo

from croniter import croniter

from streamjob_operator.spec import Denied, Window
from streamjob_operator.spec.policies import Recurring

ANY = ["*"]
"""A cron field that is left open, as croniter takes it apart."""
NONE = datetime.timedelta()


def denying(windows: Iterable[Window], what: Denied, now_s: float) -> Window | None:
    """The first open window that forbids it, or None."""
    return next((window for window in windows if what in window.deny and is_open(window, now_s)), None)


def is_open(window: Recurring, now_s: float) -> bool:
    """Whether the window opened within the last `duration` before now_s (seconds since the epoch).

    Where clocks are set, cron's rule is kept: a time that comes twice is its first one, but of a window of every hour
    both are. One that does not come is what it would be by the clock before (RFC 5545, section 3.3.5).
    """
    hours = croniter(window.cron).expanded[1]
    passes = (0, 1) if hours == ANY else (0,)
    return now_s - max(_opened_s(window, now_s, fold) for fold in passes) < window.duration_s


def _opened_s(window: Recurring, now_s: float, fold: int) -> float:
    """When it opened last, taking times that come twice for their first (`fold` 0) or second (1) one."""
    return next(at_s for at_s in _openings_s(window, now_s, fold) if at_s <= now_s)


def _openings_s(window: Recurring, now_s: float, fold: int) -> Iterator[float]:
    """The newest first, those included that the clock shows again only after now_s.

    croniter is given times without a zone: those of a zone it has wrong in the hours in which clocks are set.
    """
    zone = ZoneInfo(window.timezone)
    now = datetime.datetime.fromtimestamp(now_s, zone)
    set_back = (now.replace(fold=0).utcoffset() or NONE) - (now.utcoffset() or NONE)
    # get_prev looks strictly before its start: a window that opens at this very second is open.
    shown = now.replace(tzinfo=None, fold=0) + set_back + datetime.timedelta(microseconds=1)
    clock = croniter(window.cron, shown)
    while True:
        yield clock.get_prev(datetime.datetime).replace(tzinfo=zone, fold=fold).timestamp()
