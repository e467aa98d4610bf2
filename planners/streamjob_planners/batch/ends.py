"""When each node ends each level, kept up while key groups move."""

from __future__ import annotations

import bisect

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.batch.schedule import list_schedule
from streamjob_planners.batch.shape import BatchShape


class Ends:
    """A placement of one batch's tasks; a move works out its two nodes anew, in the level of its group."""

    def __init__(self, shape: BatchShape, node_of: IntArray, task_s: FloatArray | None = None) -> None:
        """`task_s`: seconds of each group's task, (n_groups,); the shape's when None."""
        tasks = shape.task_s if task_s is None else task_s
        self.node_s: FloatArray = levels_s(shape, node_of, tasks)
        self._task_s: list[float] = tasks.tolist()
        self._level: list[int] = shape.level.tolist()
        self._slots, self._speed = shape.slots.tolist(), shape.speed.tolist()
        self._node_of: list[int] = node_of.tolist()
        self._members: dict[tuple[int, int], list[int]] = {}
        for group, (level, node) in enumerate(zip(self._level, self._node_of, strict=True)):
            self._members.setdefault((level, node), []).append(group)

    def members(self, level: int, node: int) -> list[int]:
        """Key groups of a level on a node, in order."""
        return self._members.get((level, node), [])

    def without(self, group: int) -> float:
        """When its node ends its level if the group were not there, seconds."""
        level, node = self._level[group], self._node_of[group]
        return self._end_s([one for one in self.members(level, node) if one != group], node)

    def joined(self, group: int, node: int) -> float:
        """When another node ends the group's level if the group came to it, seconds."""
        members = list(self.members(self._level[group], node))
        bisect.insort(members, group)
        return self._end_s(members, node)

    def move(self, group: int, target: int) -> None:
        """Put the group on another node."""
        level, source = self._level[group], self._node_of[group]
        self._members[level, source].remove(group)
        bisect.insort(self._members.setdefault((level, target), []), group)
        self._node_of[group] = target
        for node in (source, target):
            self.node_s[level, node] = self._end_s(self._members[level, node], node)

    def _end_s(self, groups: list[int], node: int) -> float:
        tasks_s, slots = [self._task_s[group] for group in groups], self._slots[node]
        return float((sum(tasks_s) if slots == 1 else list_schedule(tasks_s, slots)) / self._speed[node])
