"""The clock of a measurement: that on the wall, or CPU time, which runs on though others keep the cores."""

from __future__ import annotations

import time

from streamjob_planners.model import Clock

THREADS = 2.0
"""Threads that search side by side: with both at work CPU time passes so many times as fast as that on the wall."""


def clock_of(*, cpu: bool) -> tuple[Clock, float]:
    """The clock, and what deadlines are to be multiplied by.

    By CPU time a deadline is only about the same: while one thread works alone it lasts twice as long.
    """
    return (time.process_time, THREADS) if cpu else (time.perf_counter, 1.0)
