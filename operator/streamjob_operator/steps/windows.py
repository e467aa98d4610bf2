"""Recurring times in which something is forbidden."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from zoneinfo import ZoneInfo

from croniter import croniter

from streamjob_operator.spec import Denied, Window
from streamjob_operator.spec.policies import Recurring


def denying(windows: Iterable[Window], what: Denied, now_s: float) -> Window | None:
    """The first open window that forbids it, or None."""
    return next((window for window in windows if what in window.deny and is_open(window, now_s)), None)


def is_open(window: Recurring, now_s: float) -> bool:
    """Whether the window opened within the last `duration` before now_s (seconds since the epoch)."""
    zone = ZoneInfo(window.timezone)
    # get_prev looks strictly before its start: a window that opens at this very second is open.
    just_after = datetime.datetime.fromtimestamp(now_s, zone) + datetime.timedelta(microseconds=1)
    opened = croniter(window.cron, just_after).get_prev(datetime.datetime)
    return bool(now_s - opened.timestamp() < window.duration_s)
