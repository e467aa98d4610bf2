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
from typing import TypeVar

Time = TypeVar("Time", int, float)
BUSY = int(os.environ.get("BUSY", "10"))


def hurried(clock: Callable[[], Time]) -> Callable[[], Time]:
    """The same clock from now on, BUSY times as fast."""
    begun = clock()
    return lambda: begun + BUSY * (clock() - begun)


time.monotonic, time.perf_counter = hurried(time.monotonic), hurried(time.perf_counter)
time.monotonic_ns, time.perf_counter_ns = hurried(time.monotonic_ns), hurried(time.perf_counter_ns)
