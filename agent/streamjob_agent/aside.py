"""Slow readings, on a thread of their own: on an object store a checkpoint's listing takes minutes."""

from __future__ import annotations

import threading
from collections.abc import Callable


class Aside:
    """One piece of work at a time. Used by the agent's thread."""

    def __init__(self) -> None:
        self._thread: threading.Thread | None = None

    @property
    def busy(self) -> bool:
        """Whether the newest piece of work still goes on."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, work: Callable[[], None]) -> None:
        """Begin; the work catches its own errors. Not while another piece goes on."""
        self._thread = threading.Thread(target=work, name="streamjob-agent-slow", daemon=True)
        self._thread.start()

    def wait(self, timeout_s: float) -> None:
        """Wait for the newest piece of work, at most timeout_s."""
        if self._thread is not None:
            self._thread.join(timeout_s)
