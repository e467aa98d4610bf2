"""What every node carries in each level of a batch, when it ends there, and what a move would change."""

from __future__ import annotations

import bisect
from collections.abc import Iterable

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.predict import levels_s
from streamjob_planners.batch.schedule import list_schedule
from streamjob_planners.batch.shape import BatchShape


class BatchLedger:
    """A placement of one batch's tasks; a move works out its two nodes anew, in the level of its group.

    Attributes:
        node_s: when each node has done its tasks of each level, seconds, (n_levels, n_nodes).
        full_s: their work, shared out evenly over the node's slots, seconds, (n_levels, n_nodes).
        power: slots times speed of each node, (n_nodes,).
    """

    def __init__(self, shape: BatchShape, node_of: IntArray) -> None:
        """`node_of`: where the groups are, (n_groups,)."""
        self.node_s: FloatArray = levels_s(shape, node_of, shape.task_s)
        self.power: FloatArray = (shape.slots * shape.speed).astype(np.float64)
        self.full_s: FloatArray = np.zeros((shape.n_levels, shape.slots.size))
        np.add.at(self.full_s, (shape.level, node_of), shape.task_s / self.power[node_of])
        self._task_s: list[float] = shape.task_s.tolist()
        self._level: list[int] = shape.level.tolist()
        self._slots, self._speed = shape.slots.tolist(), shape.speed.tolist()
        self._node_of: list[int] = node_of.tolist()
        self._members: dict[tuple[int, int], list[int]] = {}
        for group, (level, node) in enumerate(zip(self._level, self._node_of, strict=True)):
            self._members.setdefault((level, node), []).append(group)

    @property
    def levels_s(self) -> float:
        """All levels, one after another, seconds."""
        return float(self.node_s.max(axis=1, initial=0.0).sum())

    def rms_s(self, n_staying: int) -> float:
        """The second measure, `Effect.level_rms_s`, where so many nodes stay; seconds."""
        return float(np.sqrt((self.full_s**2).sum(axis=1) / n_staying).sum())

    def members(self, level: int, node: int) -> list[int]:
        """Key groups of a level on a node, in order."""
        return self._members.get((level, node), [])

    def place(self, group: int) -> tuple[int, int]:
        """The group's level and node."""
        return self._level[group], self._node_of[group]

    def task_s(self, group: int) -> float:
        """Seconds of the group's task on a node of speed 1."""
        return self._task_s[group]

    def joined_s(self, group: int, node: int) -> float:
        """When another node ends the group's level if the group came to it, seconds."""
        members = list(self.members(self._level[group], node))
        bisect.insort(members, group)
        return self._end_s(members, node)

    def full_with_s(self, group: int, nodes: IntArray) -> FloatArray:
        """Work per slot that other nodes would have in the group's level with it, seconds, (n,)."""
        full: FloatArray = self.full_s[self._level[group], nodes] + self._task_s[group] / self.power[nodes]
        return full

    def move(self, group: int, target: int) -> None:
        """Put the group on another node."""
        level, source = self.place(group)
        self._members[level, source].remove(group)
        bisect.insort(self._members.setdefault((level, target), []), group)
        self._node_of[group] = target
        self.full_s[level, source] -= self._task_s[group] / self.power[source]
        self.full_s[level, target] += self._task_s[group] / self.power[target]
        self._work_out(((level, source), (level, target)))

    def lengthen(self, extra_s: dict[int, float]) -> None:
        """Let the tasks of these groups take longer by so many seconds."""
        for group, seconds in extra_s.items():
            level, node = self.place(group)
            self._task_s[group] += seconds
            self.full_s[level, node] += seconds / self.power[node]
        self._work_out({self.place(group) for group in extra_s})

    def _work_out(self, places: Iterable[tuple[int, int]]) -> None:
        for level, node in places:
            self.node_s[level, node] = self._end_s(self._members[level, node], node)

    def _end_s(self, groups: list[int], node: int) -> float:
        tasks_s, slots = [self._task_s[group] for group in groups], self._slots[node]
        return float((sum(tasks_s) if slots == 1 else list_schedule(tasks_s, slots)) / self._speed[node])
