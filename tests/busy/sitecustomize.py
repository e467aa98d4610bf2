"""A machine that is BUSY times as slow as its clock: Python imports this at its start where this folder is on its path.

What measures time by `time.monotonic` or `time.perf_counter` sees so many seconds for each that passes; sleeps,
timeouts of sockets and the threads' own waits are as long as ever, and so is CPU time. A test that fails only here
trusts a clock. See `make busy`.
"""

from __future__ import annotations

import os
import threading  # noqa: F401 - keeps the real clock: a wait of it is for real
import time
from collections.abc import Callable

BUSY = int(os.environ.get("BUSY", "10"))


def hurried(clock: Callable[[], float]) -> Callable[[], float]:
    """The same clock from now on, BUSY times as fast."""
    begun = clock()
    return lambda: begun + BUSY * (clock() - begun)


def hurried_ns(clock: Callable[[], int]) -> Callable[[], int]:
    """The same of one that counts nanoseconds."""
    begun = clock()
    return lambda: begun + BUSY * (clock() - begun)


time.monotonic, time.perf_counter = hurried(time.monotonic), hurried(time.perf_counter)
time.monotonic_ns, time.perf_counter_ns = hurried_ns(time.monotonic_ns), hurried_ns(time.perf_counter_ns)
