"""A placement between two batches: what the next one takes with what its key groups have to load, and without."""

from __future__ import annotations

import numpy as np

from streamjob_planners.batch.predict import rest_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.ledger.batch import BatchLedger
from streamjob_planners.model import LoadModel

CLOSE = 1e-9
"""Seconds that rounding makes."""


class Boundary:
    """Starts at today's placement; moves are made one by one, and `settle` is the batch after them."""

    def __init__(self, model: LoadModel, shape: BatchShape) -> None:
        """`shape`: the model's batch."""
        self._still = BatchLedger(shape, model.node_of)
        self._loading = BatchLedger(shape, model.node_of)
        self._cost_s: list[float] = model.migration_cost_s.tolist()
        self._fixed_s = rest_s(shape)
        self._made: dict[int, float] = {}

    @property
    def batch_s(self) -> float:
        """The next batch if nothing had to be loaded."""
        return self._fixed_s + self._still.levels_s

    @property
    def extra_s(self) -> float:
        """What loading adds to it."""
        return self._loading.levels_s - self._still.levels_s

    def make(self, group: int, target: int, most_extra_s: float = np.inf) -> bool:
        """Move the group if loading then adds at most `most_extra_s` to the next batch; says whether it was moved."""
        return self._try(group, target, most_extra_s, np.inf)

    def join(self, group: int, target: int, most_extra_s: float) -> bool:
        """Move the group if, besides, the next batch gets no longer than it is."""
        if self._surely_longer(group, target):
            return False
        return self._try(group, target, most_extra_s, self._loading.levels_s)

    def settle(self) -> None:
        """The batch is over: what its groups had to load is there."""
        self._loading.lengthen({group: -cost_s for group, cost_s in self._made.items()})
        self._made.clear()

    def _surely_longer(self, group: int, target: int) -> bool:
        """Whether the target's work alone, spread over all its slots, takes longer than the level now."""
        loading, level = self._loading, self._loading.place(group)[0]
        work_s = loading.full_s[level, target] + (loading.task_s(group) + self._cost_s[group]) / loading.power[target]
        return bool(work_s > loading.node_s[level].max() + CLOSE)

    def _try(self, group: int, target: int, most_extra_s: float, most_levels_s: float) -> bool:
        source, loads = self._still.place(group)[1], {group: self._cost_s[group]}
        self._still.move(group, target)
        self._loading.move(group, target)
        self._loading.lengthen(loads)
        if self.extra_s <= most_extra_s + CLOSE and self._loading.levels_s <= most_levels_s + CLOSE:
            self._made |= loads
            return True
        self._still.move(group, source)
        self._loading.lengthen({group: -self._cost_s[group]})
        self._loading.move(group, source)
        return False
