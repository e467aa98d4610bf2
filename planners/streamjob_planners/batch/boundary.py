"""A placement between two batches: what the next one takes with what its key groups have to load, and without."""

from __future__ import annotations

import bisect

import numpy as np

from streamjob_planners.batch.predict import free_s, levels_s
from streamjob_planners.batch.schedule import list_schedule
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import LoadModel

CLOSE = 1e-9
"""Seconds that rounding makes."""


class Boundary:
    """Starts at today's placement. Only the two nodes of a move, in the level of its key group, are worked out anew."""

    def __init__(self, model: LoadModel, shape: BatchShape) -> None:
        """`shape`: the model's batch."""
        self._shape = shape
        self._cost_s = model.migration_cost_s.tolist()
        self._task_s = shape.task_s.tolist()
        self._level = shape.level.tolist()
        self._slots, self._speed = shape.slots.tolist(), shape.speed.tolist()
        self._node_of = model.node_of.tolist()
        self._loading_s: dict[int, float] = {}
        self._still = levels_s(shape, model.node_of, shape.task_s)
        self._loading = self._still.copy()
        self._members: dict[tuple[int, int], list[int]] = {}
        self._work_s: dict[tuple[int, int], float] = {}
        for group, (level, node) in enumerate(zip(self._level, self._node_of, strict=True)):
            self._members.setdefault((level, node), []).append(group)
            self._work_s[level, node] = self._work_s.get((level, node), 0.0) + self._task_s[group]
        self._fixed_s = shape.fixed_s + free_s(shape.free_stages, int(shape.slots.sum()))

    @property
    def batch_s(self) -> float:
        """The next batch if nothing had to be loaded."""
        return self._fixed_s + float(self._still.max(axis=1, initial=0.0).sum())

    @property
    def extra_s(self) -> float:
        """What loading adds to it."""
        return float((self._loading.max(axis=1, initial=0.0) - self._still.max(axis=1, initial=0.0)).sum())

    @property
    def loading_s(self) -> float:
        """The next batch with what has to be loaded."""
        return self.batch_s + self.extra_s

    def make(self, group: int, target: int, most_extra_s: float = np.inf) -> bool:
        """Move the group if loading then adds at most `most_extra_s` to the next batch; says whether it was moved."""
        return self._made(group, target, most_extra_s, np.inf)

    def join(self, group: int, target: int, most_extra_s: float) -> bool:
        """Move the group if, besides, the next batch gets no longer than it is."""
        if self._surely_longer(group, target):
            return False
        return self._made(group, target, most_extra_s, self.loading_s)

    def _surely_longer(self, group: int, target: int) -> bool:
        """Whether the target's work alone, spread over all its slots, takes longer than the level now."""
        level = self._level[group]
        work_s = sum(
            self._task_s[one] + self._loading_s.get(one, 0.0) for one in self._members.get((level, target), [])
        )
        work_s += self._task_s[group] + self._cost_s[group]
        power = self._slots[target] * self._speed[target]
        return bool(work_s / power > self._loading[level].max() + CLOSE)

    def _made(self, group: int, target: int, most_extra_s: float, most_batch_s: float) -> bool:
        level, source = self._level[group], self._node_of[group]
        before = (self._loading[level].copy(), self._still[level].copy())
        works = {(level, node): self._work_s.get((level, node), 0.0) for node in (source, target)}
        self._put(group, level, target)
        self._loading_s[group] = self._cost_s[group]
        self._work_out(level, (source, target))
        if self.extra_s <= most_extra_s + CLOSE and self.loading_s <= most_batch_s + CLOSE:
            return True
        del self._loading_s[group]
        self._put(group, level, source)
        self._loading[level], self._still[level] = before
        self._work_s.update(works)
        return False

    def settle(self, groups: list[int]) -> None:
        """The batch is over: what these groups had to load is there."""
        for group in groups:
            self._work_s[self._level[group], self._node_of[group]] -= self._loading_s.pop(group, 0.0)
        self._loading[:] = self._still

    def _put(self, group: int, level: int, node: int) -> None:
        self._members[level, self._node_of[group]].remove(group)
        bisect.insort(self._members.setdefault((level, node), []), group)
        self._node_of[group] = node

    def _work_out(self, level: int, nodes: tuple[int, int]) -> None:
        for node in nodes:
            members = self._members[level, node]
            task_s = [self._task_s[group] for group in members]
            loading_s = [self._task_s[group] + self._loading_s.get(group, 0.0) for group in members]
            self._work_s[level, node] = sum(loading_s)
            self._still[level, node] = end_s = self._end_s(task_s, node)
            self._loading[level, node] = end_s if loading_s == task_s else self._end_s(loading_s, node)

    def _end_s(self, tasks_s: list[float], node: int) -> float:
        slots = self._slots[node]
        return float((sum(tasks_s) if slots == 1 else list_schedule(tasks_s, slots)) / self._speed[node])
