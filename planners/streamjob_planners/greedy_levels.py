"""Greedy by batch time: from the fullest node of a level to the one that has least to do, as long as that helps.

The level whose fullest node is furthest above its mean comes first, for there is most to gain; of the key groups there,
the one goes whose move leaves the fuller of both nodes least full. A node of several slots may end as late as before
until more have left it, so what counts for one move is work per slot; of all placements on the way the best one stays.
Nodes without work are filled even where another node, as full, keeps the level as long as it was.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable

import numpy as np

from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.ledger.batch import BatchLedger
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import Clock, FloatArray, IntArray
from streamjob_planners.problem import Problem

CLEAR_S = 1e-9
"""Seconds that a move must win at least."""
DIGITS = 7
"""Of a second, that tell two placements apart."""


def greedy_levels(problem: Problem, shape: BatchShape, clock: Clock, until_s: float) -> IntArray:
    """Drains, then relieves, until that time on the clock or `max_iterations` moves, (n_groups,)."""
    steps, most = itertools.count(1), problem.params.max_iterations
    run = LevelGreedy(problem, shape, lambda: (most is not None and next(steps) > most) or clock() >= until_s)
    run.drain()
    run.relieve()
    return run.node_of


class LevelGreedy:
    """One run; `over` is asked before each move, and says when to stop."""

    def __init__(self, problem: Problem, shape: BatchShape, over: Callable[[], bool]) -> None:
        """Starts at today's placement."""
        self._books = Ledger(problem)
        self._batch = BatchLedger(shape, problem.model.node_of)
        self._shape = shape
        self._over = over
        self._staying = problem.open_nodes
        self._done = np.zeros(self._batch.full_s.shape, dtype=np.bool_)

    @property
    def node_of(self) -> IntArray:
        """The placement so far, (n_groups,)."""
        return self._books.node_of

    def drain(self) -> None:
        """Empty marked nodes, longest tasks first, each onto the node that is then least full."""
        books = self._books
        waiting = np.flatnonzero(~self._staying[books.node_of] & books.problem.movable)
        for group in waiting[np.argsort(-self._shape.task_s[waiting], kind="stable")].tolist():
            if self._over():
                return
            target = self._best_target(group)
            if target is not None:
                self._move(group, target)

    def relieve(self) -> None:
        """Move from fullest nodes until none can be relieved or the budget is spent; back to the best on the way."""
        made: list[tuple[int, int]] = []
        best, best_at = self._worth(), 0
        while not self._over():
            place = self._fullest()
            if place is None:
                break
            group = self._relieved(*place)
            if group is None:
                self._done[place] = True
                continue
            made.append((group, place[1]))
            if self._worth() < best:
                best, best_at = self._worth(), len(made)
        for group, source in reversed(made[best_at:]):
            self._move(group, source)

    def _worth(self) -> tuple[float, float]:
        """What the objective makes small: all levels, then the second measure; rounded so that a difference is one."""
        second_s = self._batch.rms_s(int(np.count_nonzero(self._staying)))
        return round(self._batch.levels_s, DIGITS), round(second_s, DIGITS)

    def _fullest(self) -> tuple[int, int] | None:
        """Level and node to relieve next."""
        batch = self._batch
        if batch.full_s.size == 0:
            return None
        excess = batch.node_s - (batch.full_s @ batch.power / batch.power[self._staying].sum())[:, None]
        excess[self._done | ~self._staying] = -np.inf
        level, node = np.unravel_index(int(excess.argmax()), excess.shape)
        return (int(level), int(node)) if excess[level, node] > CLEAR_S else None

    def _relieved(self, level: int, node: int) -> int | None:
        """The key group that has gone; None where none could."""
        batch = self._batch
        full_s, longest_s = float(batch.full_s[level, node]), float(batch.node_s[level].max())
        groups = np.array(batch.members(level, node), dtype=np.int64)
        groups = groups[self._books.problem.movable[groups] & (self._shape.task_s[groups] > 0)]
        for group in groups[np.argsort(self._fuller(groups, level, node), kind="stable")].tolist():
            target = self._best_target(group)
            if target is None or batch.full_with_s(group, np.array([target]))[0] >= full_s - CLEAR_S:
                continue
            if batch.joined_s(group, target) <= longest_s + CLEAR_S:
                self._move(group, target)
                return int(group)
        return None

    def _fuller(self, groups: IntArray, level: int, node: int) -> FloatArray:
        """How full the fuller of two nodes is once a group has gone to the emptiest other one, (n_groups,)."""
        task_s, full, power = self._shape.task_s[groups], self._batch.full_s[level], self._batch.power
        away = np.flatnonzero(self._staying & (np.arange(full.size) != node))
        if away.size == 0:
            return task_s
        emptiest = away[int(full[away].argmin())]
        fuller: FloatArray = np.maximum(full[node] - task_s / power[node], full[emptiest] + task_s / power[emptiest])
        return fuller

    def _best_target(self, group: int) -> int | None:
        """The node that is least full in the group's level with it, of those that may take it within the budget."""
        nodes = self._books.fitting(group)
        nodes = nodes[[self._books.affordable(group, int(node)) for node in nodes]] if nodes.size else nodes
        if nodes.size == 0:
            return None
        after = np.maximum(self._batch.full_with_s(group, nodes), self._shape.task_s[group] / self._shape.speed[nodes])
        return int(nodes[int(after.argmin())])

    def _move(self, group: int, target: int) -> None:
        level, source = self._batch.place(group)
        if self._books.move(group, target):
            self._batch.move(group, target)
            self._done[level, [source, target]] = False
