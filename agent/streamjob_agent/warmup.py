"""What tasks of a key group take beyond its load, because they are the first: it is no load, and does not move along.

A group's first tasks on an executor load its state, may start a Python worker, and on a new executor all code is cold.
And in each stage the first task of a slot fetches what the later ones share: the Hadoop configuration, the places of
shuffle files. Counted as load, the one would make a plan's own moves look like new overload, and the other would have
plans move a group away from a cost that then falls upon the next one.
"""

from __future__ import annotations

import dataclasses
import statistics
from collections import deque
from typing import NamedTuple

from streamjob_agent.bridge import Moments

YOUNG_BATCHES = 3
"""Batches on an executor since its first task of the query, in which every key group there is cold."""
_NEWEST = 0.5  # weight of the newest warm batch in what is usual
_FEWEST_PAIRS, _MOST_PAIRS = 3, 25  # observations from which, and of which at most, a start's cost is learned
_PAIR_BATCHES = 4  # batches between two tasks that are compared: a group's load may change in more


class StartCost:
    """Seconds that the first task of a slot takes beyond a later one, learned from groups that changed their turn."""

    def __init__(self) -> None:
        self.seconds = 0.0  # the median difference, 0 or more; 0 while too few were seen
        self._pairs: deque[float] = deque(maxlen=_MOST_PAIRS)

    def observe(self, first_s: float, later_s: float) -> None:
        """Take in two tasks of a key group, few batches apart: one was the first on its slot, the other came later."""
        self._pairs.append(first_s - later_s)
        if len(self._pairs) >= _FEWEST_PAIRS:
            self.seconds = max(0.0, statistics.median(self._pairs))


class Reading(NamedTuple):
    """Tasks of one key group since the last reading; `first_tasks` were the first on their slot in their stage."""

    busy_s: float
    tasks: int
    first_tasks: int
    cold: bool
    batch: int

    @property
    def first(self) -> bool | None:
        """Whether its tasks were first ones; None where some were and some were not."""
        return self.first_tasks > 0 if self.first_tasks in (0, self.tasks) else None

    @property
    def task_s(self) -> float:
        """Mean seconds of its tasks."""
        return self.busy_s / max(1, self.tasks)


@dataclasses.dataclass(slots=True)
class Warmup:
    """One key group's usual seconds a task, learned from warm batches only; None before the first of them."""

    usual_s: float | None = None
    before: Reading | None = None  # the newest warm reading of one kind of tasks

    def beyond_s(self, reading: Reading, start: StartCost) -> tuple[float, float]:
        """Seconds beyond the group's load: of starts, and of being cold, which is 0 while the group is warm."""
        start_s = min(reading.busy_s, start.seconds * reading.first_tasks)
        task_s = (reading.busy_s - start_s) / max(1, reading.tasks)
        if not reading.cold:
            self._compare(reading, start)
            self.usual_s = task_s if self.usual_s is None else self.usual_s + _NEWEST * (task_s - self.usual_s)
            return start_s, 0.0
        return start_s, 0.0 if self.usual_s is None else max(0.0, task_s - self.usual_s) * reading.tasks

    def _compare(self, now: Reading, start: StartCost) -> None:
        """Tell what a start costs, when the group's turn on its slot has changed."""
        before, first = self.before, now.first
        if first is None:
            return
        self.before = now
        if before is None or before.first is first or now.batch - before.batch > _PAIR_BATCHES:
            return
        start.observe(*((now.task_s, before.task_s) if first else (before.task_s, now.task_s)))


def squared_s2(moments: Moments, reading: Reading, start_s: float, load_s: float) -> float:
    """Sum over the reading's batches of the square of the group's load in each, `load_s` in all.

    A cold reading says nothing about how the load varies, so each of its batches counts as their mean.
    """
    even = load_s**2 / moments.batches
    if reading.cold:
        return even
    start = start_s / reading.first_tasks if reading.first_tasks else 0.0
    squared = moments.squared_s2 - 2 * start * moments.first_s + start**2 * moments.firsts_squared
    return max(even, squared)


class Ages:
    """How many batches of a query each executor has worked on."""

    def __init__(self) -> None:
        self._since: dict[str, int] = {}

    def young(self, executor_id: str, batches: int) -> bool:
        """Whether the executor is new at `batches` finished batches; the first question notes that it exists."""
        return batches - self._since.setdefault(executor_id, batches) < YOUNG_BATCHES

    def forget(self, most: int) -> None:
        """Keep the newest executors only."""
        for executor_id in list(self._since)[:-most]:
            del self._since[executor_id]
