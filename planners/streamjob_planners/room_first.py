"""Moves that make room before those that need it: a plan is carried out over several batches, in its order.

A plan keeps the limits of further resources once all of it is made. On the way a node that is to exchange key groups
would hold those that come beside those that have yet to go.
"""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from streamjob_planners.model import IntArray, LoadModel
from streamjob_planners.problem import held_by, resources_of


def room_first(model: LoadModel, groups: IntArray, node_of: IntArray) -> IntArray:
    """Places in `groups`, (n_moves,), so that each move to `node_of`, (n_groups,), finds room where it goes.

    A move waits no longer than until others have made room for it. Where all that are left wait for each other, as in a
    ring, the one goes that needs least.
    """
    way = _Way(model, groups, node_of)
    for place in range(groups.size):
        way.go(place)
    needs = np.max([one.use[groups] / max(float(one.use.max()), 1e-300) for one in model.resources], axis=0)
    for place in np.argsort(needs, kind="stable").tolist():
        way.go(place, anyway=True)
    return np.array(way.gone, dtype=np.int64)


class _Way:
    """Moves made so far, as places in `gone`, and those that wait, by the node that they go to."""

    def __init__(self, model: LoadModel, groups: IntArray, node_of: IntArray) -> None:
        self._source, self._target = model.node_of[groups].tolist(), node_of[groups].tolist()
        uses, limits = resources_of(model)
        # Lists: one move after the other, in Python, is faster with them than with arrays.
        self._uses, self._limits = uses[:, groups].tolist(), limits.tolist()
        self._held = held_by(model.node_of, uses, model.n_nodes).tolist()
        self._waiting: dict[int, list[int]] = defaultdict(list)
        self._made: set[int] = set()
        self.gone: list[int] = []

    def go(self, place: int, *, anyway: bool = False) -> None:
        """Make a move that was not made yet where it finds room, and what it makes room for; else it waits."""
        todo = [place]
        while todo:
            one = todo.pop(0)
            if one in self._made:
                continue
            if not anyway and not self._fits(one):
                self._waiting[self._target[one]].append(one)
                continue
            self._make(one)
            todo, anyway = [*self._waiting.pop(self._source[one], ()), *todo], False

    def _fits(self, place: int) -> bool:
        target, amounts = self._target[place], zip(self._held, self._uses, self._limits, strict=True)
        return all(held[target] + use[place] <= limit[target] for held, use, limit in amounts)

    def _make(self, place: int) -> None:
        for held, use in zip(self._held, self._uses, strict=True):
            held[self._source[place]] -= use[place]
            held[self._target[place]] += use[place]
        self._made.add(place)
        self.gone.append(place)
