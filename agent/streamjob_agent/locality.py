"""How long the scheduler should wait for a group's own executor: about twice the p99 of the stateful stage."""

from __future__ import annotations

import math
from collections import deque

SHORTEST_S = 3.0  # as long as Spark waits by default, so that other jobs of the driver are no worse off
LONGEST_S = 60.0
_WINDOW = 100  # stages
_WORTH_A_CHANGE = 0.2


class LocalityTuner:
    """A wait shorter than a stage lets tasks be stolen, with their state; a longer one costs little."""

    def __init__(self) -> None:
        self._stages_s: deque[float] = deque(maxlen=_WINDOW)
        self._set_s: float | None = None

    def observe(self, longest_stage_s: float | None) -> float | None:
        """Take in the longest stateful stage since the last call; the wait to set in seconds, None for no change."""
        if longest_stage_s is None:
            return None
        self._stages_s.append(longest_stage_s)
        wanted_s = min(LONGEST_S, max(SHORTEST_S, 2.0 * self._p99_s()))
        if self._set_s is not None and abs(wanted_s - self._set_s) <= _WORTH_A_CHANGE * self._set_s:
            return None
        self._set_s = wanted_s
        return wanted_s

    def _p99_s(self) -> float:
        ordered = sorted(self._stages_s)
        return ordered[math.ceil(0.99 * len(ordered)) - 1]

    def forget(self) -> None:
        """The last wait could not be set: propose it again."""
        self._set_s = None
