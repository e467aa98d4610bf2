"""Keeps the driver running as the job's restart policy says."""

from __future__ import annotations

from collections.abc import Callable
from typing import Protocol

from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.spec.restart import Restart, RestartPolicy

STEADY_FACTOR = 2.0
"""A driver that ran this times the longest backoff has recovered: the next wait is the first one again."""


class Startable(Protocol):
    """A driver process."""

    def start(self) -> None:
        """Start; may be called again once it has ended. Raises OSError."""

    def exit_code(self) -> int | None:
        """None while it runs."""

    def stop(self) -> None:
        """End it and all that it started."""

    def last_words(self) -> tuple[str, ...]:
        """The last lines of its output."""


class Supervisor:
    """Call :meth:`tick` often with the time in seconds; `ended` tells when the job is over for good.

    While `away` says so, at that time, somebody else has stopped the driver and it is left alone.
    """

    def __init__(
        self,
        driver: Startable,
        restart: Restart,
        tell: Callable[[str], None],
        away: Callable[[float], bool] = lambda now_s: False,
    ) -> None:
        self._driver = driver
        self._away = away
        self._was_away = False
        self._restart = restart
        self._tell = tell
        self._failures = 0
        self._started_s: float | None = None
        self._start_at_s: float | None = None
        self._code = 0  # of the newest end
        self.ended: int | None = None

    def tick(self, now_s: float) -> None:
        """Start what is due, notice what has ended. The first start raises OSError where it is impossible."""
        if self.ended is not None or self._is_away(now_s):
            return
        if self._started_s is None:
            self._start(now_s)
            return
        code = self._driver.exit_code()
        if code is not None:
            self._over(code, now_s, ran_s=now_s - self._started_s)

    def _is_away(self, now_s: float) -> bool:
        """Whether the driver is stopped for something that is done to its checkpoint; then it starts without a wait."""
        before, self._was_away = self._was_away, self._away(now_s)
        if before and not self._was_away:
            self._started_s, self._start_at_s = None, now_s
        return self._was_away

    def _start(self, now_s: float) -> None:
        if self._start_at_s is None:
            self._driver.start()
        elif now_s < self._start_at_s:
            return
        else:
            try:
                self._driver.start()
            except OSError as error:  # a full disk, no process left: nothing that lasts, and the job is to run
                self._driver.stop()
                self._next(self._code or 1, now_s, f"could not be started: {error.strerror or error}", [])
                return
        self._started_s = now_s

    def _over(self, code: int, now_s: float, ran_s: float) -> None:
        self._driver.stop()  # what the driver left behind: executors whose driver is gone
        if ran_s > STEADY_FACTOR * self._restart.backoff.max_s:
            self._failures = 0
        self._next(code, now_s, ending(code), self._said(code))

    def _next(self, code: int, now_s: float, what: str, said: list[str]) -> None:
        """`what` became of the driver, and what it `said`: the end of the job, or another start after a wait."""
        self._code = code
        if self._stays_ended(code):
            self.ended = code
            self._tell("\n".join([f"The job has ended: its driver {what}.", *said]))
            return
        wait_s = self._restart.backoff.wait_s(self._failures)
        self._failures += 1
        self._started_s, self._start_at_s = None, now_s + wait_s
        self._tell("\n".join([f"The driver {what}; it is started again in {format_duration(wait_s)}.", *said]))

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
