"""Keeps the driver running as the job's restart policy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.spec.restart import Restart, RestartPolicy

STEADY_FACTOR = 2.0
"""A driver that ran this times the longest backoff has recovered: the next wait is the first one again."""

MOST_DOUBLED = 30
"""From a tenth of a second to years: of more failures in a row no number holds the power."""


class Startable(Protocol):
    """A driver process."""

    def start(self) -> None:
        """Start; may be called again once it has ended."""

    def exit_code(self) -> int | None:
        """None while it runs."""

    def stop(self) -> None:
        """End it and all that it started."""

    def last_words(self) -> tuple[str, ...]:
        """The last lines of its output."""


class Supervisor:
    """Call :meth:`tick` often with the time in seconds; `ended` tells when the job is over for good."""

    def __init__(self, driver: Startable, restart: Restart, tell: Callable[[str], None]) -> None:
        self._driver = driver
        self._restart = restart
        self._tell = tell
        self._failures = 0
        self._started_s: float | None = None
        self._start_at_s: float | None = None
        self.ended: int | None = None

    def tick(self, now_s: float) -> None:
        """Start what is due, notice what has ended."""
        if self.ended is not None:
            return
        if self._started_s is None:
            if self._start_at_s is None or now_s >= self._start_at_s:
                self._driver.start()
                self._started_s = now_s
            return
        code = self._driver.exit_code()
        if code is not None:
            self._over(code, now_s, ran_s=now_s - self._started_s)

    def _over(self, code: int, now_s: float, ran_s: float) -> None:
        self._driver.stop()  # what the driver left behind: executors whose driver is gone
        if ran_s > STEADY_FACTOR * self._restart.backoff.max_s:
            self._failures = 0
        if self._stays_ended(code):
            self.ended = code
            self._tell("\n".join([f"The job has ended: its driver {ending(code)}.", *self._said(code)]))
            return
        doubled = 2.0 ** min(self._failures, MOST_DOUBLED)
        wait_s = min(self._restart.backoff.initial_s * doubled, self._restart.backoff.max_s)
        self._failures += 1
        self._started_s, self._start_at_s = None, now_s + wait_s
        again = f"The driver {ending(code)}; it is started again in {format_duration(wait_s)}."
        self._tell("\n".join([again, *self._said(code)]))

    def _stays_ended(self, code: int) -> bool:
        policy, most = self._restart.policy or RestartPolicy.NEVER, self._restart.max_restarts
        if policy is RestartPolicy.NEVER or (policy is RestartPolicy.ON_FAILURE and code == 0):
            return True
        return most is not None and self._failures >= most

    def _said(self, code: int) -> list[str]:
        """What the driver wrote last, where that may tell why it ended."""
        return [f"  | {line}" for line in self._driver.last_words()] if code else []


def ending(code: int) -> str:
    """How a process ended, in words."""
    return f"was ended by signal {-code}" if code < 0 else f"ended with {code}"
