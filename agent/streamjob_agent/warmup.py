"""What the first tasks of a key group on an executor take beyond its usual: it is no load, and goes by itself.

The group's state is loaded, a Python worker may start, and on a new executor all code is cold. Counted as load, it
would make a plan's own moves look like new overload, and the next plan would move the same groups back.
"""

from __future__ import annotations

import dataclasses

COLD_BATCHES = 1
"""Batches of a key group that has moved to an executor that knows the job."""
YOUNG_BATCHES = 3
"""Batches on an executor since its first task of the query, in which every key group there is cold."""
_NEWEST = 0.5  # weight of the newest warm batch in what is usual


@dataclasses.dataclass(slots=True)
class Warmup:
    """One key group's usual seconds a task, learned from warm batches only; None before the first of them."""

    usual_s: float | None = None

    def excess_s(self, busy_s: float, tasks: int, *, cold: bool) -> float:
        """Seconds beyond the usual in one reading of a group with tasks in it; always 0 while the group is warm."""
        task_s = busy_s / max(1, tasks)
        if not cold:
            self.usual_s = task_s if self.usual_s is None else self.usual_s + _NEWEST * (task_s - self.usual_s)
            return 0.0
        return 0.0 if self.usual_s is None else max(0.0, task_s - self.usual_s) * tasks


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
