"""How often the agent works: never more than a small share of the driver's time."""

from __future__ import annotations

from collections.abc import Callable

LONGEST_GAP_S = 60.0
LONGEST_SLOW_GAP_S = 7200.0
LONGEST_STILL_S = 5.0
"""Seconds without a round at most, while a batch is young: what its tasks have taken is told as often."""
STILL_RATIO = 0.02
"""Of a batch that is older: the part of its time so far for which no round may be made at most."""
MOST_STILL_S = 30.0
"""Seconds without a round at most, however old a batch is."""


class Rounds:
    """The pause after each round that keeps the agent's share of the time below `ratio`.

    At most LONGEST_GAP_S: a call that hung for once must not silence the agent for minutes.
    """

    def __init__(self, ratio: float) -> None:
        self._ratio = ratio
        self.spent_s = 0.0

    def gap_s(self, cost_s: float) -> float:
        """The pause that a round of `cost_s` asks for."""
        self.spent_s += cost_s
        return min(LONGEST_GAP_S, cost_s / self._ratio)


class Stillness:
    """How long rounds may be left out as far as time and errors go: what has failed is tried again in the next round.

    `clock`: seconds, never going back.
    """

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._looked_s: float | None = None
        self._news_s = clock()

    def looked(self, *, well: bool, news: bool) -> None:
        """A round has ended; `well` when nothing failed in it, `news` when it was not made for the time alone."""
        self._looked_s = self._clock() if well else None
        if news:
            self._news_s = self._clock()

    @property
    def left_s(self) -> float:
        """Seconds until a round is due though nothing has happened, 0 if it is now."""
        if self._looked_s is None:
            return 0.0
        quiet_s = self._looked_s - self._news_s
        longest_s = min(MOST_STILL_S, max(LONGEST_STILL_S, STILL_RATIO * quiet_s))
        return max(0.0, self._looked_s + longest_s - self._clock())


class SlowWork:
    """When to do expensive readings: every `every` batches at most, and more rarely the more they cost.

    At most LONGEST_SLOW_GAP_S apart, what a reading of 144 s asks for at a share of 2 percent: one that hung with its
    object store for an hour must not leave sizes and memory as they were for days.
    """

    def __init__(self, ratio: float, every: int, clock: Callable[[], float]) -> None:
        self._ratio = ratio
        self._every = every
        self._clock = clock
        self._batches = every  # due at the first batch
        self._not_before_s = 0.0
        self.spent_s = 0.0

    def due(self, batches: int) -> bool:
        """Count batches that ended; True when it is time."""
        self._batches += batches
        return batches > 0 and self._batches >= self._every and self._clock() >= self._not_before_s

    def done(self, cost_s: float) -> None:
        """Take in what the reading cost."""
        self.spent_s += cost_s
        self._batches = 0
        self._not_before_s = self._clock() + min(LONGEST_SLOW_GAP_S, cost_s / self._ratio)
