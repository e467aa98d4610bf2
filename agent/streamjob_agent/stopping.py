"""SIGTERM on Kubernetes: the queries are stopped between two batches, then the program ends.

As the first process of a container a program would not even get the signal without a handler. The program's own
handler, if it sets one later, replaces this one.
"""

from __future__ import annotations

import atexit
import logging
import os
import signal
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

from streamjob_agent.guard import Guard, say

ENDING_S = 5.0
"""Time for the program to end by itself once its queries have: awaitTermination comes back, the script goes on."""
EXIT_CODE = 128 + signal.SIGTERM


class GracefulStop:
    """`stop_queries(seconds)` stops them between two batches, or inside one when that takes longer; `end` is called
    where the program goes on behind its queries, and ends this process where it is not given."""

    def __init__(
        self,
        stop_queries: Callable[[float], None],
        guard: Guard,
        grace_s: float,
        ending_s: float = ENDING_S,
        end: Callable[[], None] | None = None,
    ) -> None:
        self._stop_queries = stop_queries
        self._guard = guard
        self._grace_s = grace_s
        self._ending_s = ending_s
        self._end = end or self._leave
        self._begun = False
        self._over = False
        self._stopped = threading.Event()
        self._process = os.getpid()
        self._before: Any = signal.SIG_DFL  # what handled it before us

    def install(self) -> None:
        """Handle SIGTERM from now on; only on the main thread."""
        self._before = signal.signal(signal.SIGTERM, self.on_signal) or signal.SIG_DFL  # None: one that is not Python's
        os.register_at_fork(after_in_child=self._leave_alone)
        atexit.register(self._wait_until_told)

    def _leave_alone(self) -> None:
        """In a process that the program has forked, a worker that a pool ends: the queries are not its own."""
        if signal.getsignal(signal.SIGTERM) == self.on_signal:
            signal.signal(signal.SIGTERM, self._before)
        atexit.unregister(self._wait_until_told)

    def on_signal(self, number: int, frame: object) -> None:
        """The first one starts to stop; the one that we send ourselves at the end leaves the program."""
        if os.getpid() != self._process:  # forked a moment ago, or called by a handler of the program's own
            signal.signal(signal.SIGTERM, self._before)
            os.kill(os.getpid(), number)
            return
        if self._over:
            sys.exit(EXIT_CODE)
        if not self._begun:
            self._begun = True
            # Not here: the main thread may be in the middle of a call to Spark, which has to come back first.
            threading.Thread(target=self._stop, name="streamjob-stop", daemon=True).start()

    def _stop(self) -> None:
        say(logging.WARNING, "StreamJob agent: asked to stop; queries are stopped between two batches")
        threading.Thread(target=self._call, daemon=True).start()
        self._stopped.wait(self._grace_s + self._ending_s)
        time.sleep(self._ending_s)
        self._end()

    def _leave(self) -> None:
        self._over = True
        signal.pthread_kill(threading.main_thread().ident or 0, signal.SIGTERM)

    def _call(self) -> None:
        self._guard.call("stop_queries", lambda: self._stop_queries(self._grace_s), None)
        self._stopped.set()

    def _wait_until_told(self) -> None:
        """A script may end with its last query, before it is told where that was stopped."""
        if self._begun and not self._over:
            self._stopped.wait(self._ending_s)
