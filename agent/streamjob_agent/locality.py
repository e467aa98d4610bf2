"""How long the scheduler should wait for a group's own executor: a stage's time, at most what a stolen task costs."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Collection

SHORTEST_S = 3.0  # as long as Spark waits by default, so that other jobs of the driver are no worse off
LONGEST_S = 60.0
_WINDOW = 100  # stages
_WORTH_A_CHANGE = 0.2


class LocalityTuner:
    """Seconds to wait, from what stages and their tasks took.

    Spark counts from the moment when a slot stays empty although tasks wait for others. Within twice the 99th
    percentile of the stages they get their turn. But no placement can be more even than one task, the longest; an
    executor that is empty for longer than that could have taken another's task, and what is lost by it is that the
    group's state is loaded there and back again. Who waits until waiting has cost as much as that never loses more
    than twice the best (the ski rental problem: Karlin, Manasse, Rudolph and Sleator, "Competitive snoopy caching",
    Algorithmica 3, 1988). As long as no group was ever seen to move, nobody knows what loading takes, and LONGEST_S
    is the bound. It is so, too, while executors are drained: those are meant to be empty, and each task that one of
    them takes from another keeps it from leaving for one more batch.
    """

    def __init__(self) -> None:
        self._stages_s: deque[float] = deque(maxlen=_WINDOW)
        self._tasks_s: deque[float] = deque(maxlen=_WINDOW)
        self._set_s: float | None = None

    def observe(
        self, stage_s: float | None, task_s: float | None, load_s: float | None, *, draining: bool = False
    ) -> float | None:
        """Take in the longest stateful stage since the last call and its longest task; `load_s` is the longest load.

        The wait to set in seconds, None for no change.
        """
        if stage_s is not None:
            self._stages_s.append(stage_s)
            if task_s is not None:
                self._tasks_s.append(task_s)
        if not self._stages_s:
            return None
        stolen_s = math.inf if draining else self._stolen_s(load_s)
        wanted_s = max(SHORTEST_S, min(LONGEST_S, 2.0 * _p99_s(self._stages_s), stolen_s))
        if self._set_s is not None and abs(wanted_s - self._set_s) <= _WORTH_A_CHANGE * self._set_s:
            return None
        self._set_s = wanted_s
        return wanted_s

    def _stolen_s(self, load_s: float | None) -> float:
        return _p99_s(self._tasks_s) + 2.0 * load_s if load_s is not None and self._tasks_s else math.inf

    def forget(self) -> None:
        """The last wait could not be set: propose it again."""
        self._set_s = None


def _p99_s(seconds: Collection[float]) -> float:
    ordered = sorted(seconds)
    return ordered[math.ceil(0.99 * len(ordered)) - 1]
