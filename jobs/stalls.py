"""Processes that are stopped for some seconds: whoever waits for them waits, and nothing tells why."""

from __future__ import annotations

import contextlib
import os
import signal
import threading
from collections.abc import Iterator


class Stalls:
    """Each ends by itself, by a clock of its own: whoever asks for one may come to wait for the stalled process."""

    def __init__(self) -> None:
        self._on: dict[int, threading.Timer] = {}

    def begin(self, process: int, for_s: float) -> bool:
        """SIGSTOP now and SIGCONT after so long; False where it is stopped already or has ended."""
        before = self._on.get(process)
        if before is not None and before.is_alive():
            return False
        try:
            os.kill(process, signal.SIGSTOP)
        except ProcessLookupError:
            return False
        timer = threading.Timer(for_s, _go_on, (process,))
        timer.daemon = True
        self._on[process] = timer
        timer.start()
        return True

    def end(self) -> None:
        """All go on at once."""
        for process, timer in self._on.items():
            timer.cancel()
            _go_on(process)
        self._on.clear()


def _go_on(process: int) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.kill(process, signal.SIGCONT)


@contextlib.contextmanager
def stalls() -> Iterator[Stalls]:
    """Nobody is stopped after the block."""
    found = Stalls()
    try:
        yield found
    finally:
        found.end()
