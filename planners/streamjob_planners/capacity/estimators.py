"""Capacity estimators beside the controller's own: none at all, groups that several executors ran, blocking rates."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.balancer import Balancer, balancer
from streamjob_planners.capacity.blocking import STEPS
from streamjob_planners.capacity.speed import TaskRows, cautious, speeds
from streamjob_planners.capacity.window import Window

KEPT_WINDOWS = 20
"""Windows whose tasks are compared: with a tenth forgotten from batch to batch, older ones count for an eighth."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Even:
    """All alike, whatever is measured."""

    def observed(self, window: Window) -> Even:
        """Nothing is learned."""
        return self

    def speeds(self, executors: tuple[str, ...]) -> FloatArray:
        """1.0 for each, (n_executors,)."""
        return np.ones(len(executors))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SharedGroups:
    """Executors compared by key groups that several of them ran, over the last windows."""

    number: int = 0
    kept: tuple[Window, ...] = ()

    def observed(self, window: Window) -> SharedGroups:
        """After one more window."""
        return SharedGroups(number=self.number + 1, kept=(*self.kept, window)[-KEPT_WINDOWS:])

    def speeds(self, executors: tuple[str, ...]) -> FloatArray:
        """The value of each interval that is nearest to 1, (n_executors,)."""
        place = {name: at for at, name in enumerate(executors)}
        groups: dict[tuple[int, int], int] = {}
        rows = [_rows(one, batch, place, groups) for batch, one in enumerate(self.kept)]
        if not rows:
            return np.ones(len(executors))
        whole = {field.name: np.concatenate([getattr(one, field.name) for one in rows]) for field in _FIELDS}
        return cautious(speeds(TaskRows(**whole), len(executors)))


_FIELDS = dataclasses.fields(TaskRows)


def _rows(window: Window, batch: int, place: Mapping[str, int], groups: dict[tuple[int, int], int]) -> TaskRows:
    """The window's tasks on executors that are still there."""
    owner = np.array([place.get(window.executors[one], -1) for one in window.owner.tolist()], dtype=np.int64)
    keys = zip(window.operator.tolist(), window.partition.tolist(), strict=True)
    group = np.array([groups.setdefault(key, len(groups)) for key in keys], dtype=np.int64)
    every = TaskRows(
        batch=np.full(owner.size, batch),
        group=group,
        executor=np.maximum(owner, 0),
        seconds=window.task_s,
        rows=window.rows,
    )
    return every.at(owner >= 0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlockingRate:
    """The splitter's balancer of the blocking-rate paper on batches: a batch waits for its slowest executor.

    The splitter is blocked on the connection whose buffer is full while the others still take tuples. Here an executor
    blocks the batch from the moment when all others have ended; its weight is the part of the rows that it took, and
    the weights that would level the rates are the speeds. A new fleet begins anew.
    """

    executors: tuple[str, ...] = ()
    slots: IntArray | None = None
    known: Balancer | None = None

    def observed(self, window: Window) -> BlockingRate:
        """After one more window. Raises ValueError for more than 1000 executors."""
        same = self.known is not None and window.executors == self.executors
        before = self.known if same and self.known is not None else balancer(window.n_executors)
        at_work = dataclasses.replace(before, weights=_weights(window))
        after = at_work.observed(_blocking(window))
        return BlockingRate(executors=window.executors, slots=window.slots, known=after)

    def speeds(self, executors: tuple[str, ...]) -> FloatArray:
        """Weight of each per slot against the median's, (n_executors,)."""
        if self.known is None or self.slots is None:
            return np.ones(len(executors))
        per_slot = np.maximum(self.known.weights, 1) / self.slots
        found = dict(zip(self.executors, (per_slot / np.median(per_slot)).tolist(), strict=True))
        return np.array([found.get(name, 1.0) for name in executors])


def _weights(window: Window) -> IntArray:
    """Thousandths of the rows that each executor took, their sum is STEPS, (n_executors,)."""
    rows = np.bincount(window.owner, window.rows, window.n_executors)
    total = float(rows.sum())
    parts = STEPS * (rows / total if total > 0 else np.full(rows.size, 1.0 / rows.size))
    weights = np.floor(parts).astype(np.int64)
    most_lost = np.argsort(weights - parts, kind="stable")[: STEPS - int(weights.sum())]
    weights[most_lost] += 1
    return weights


def _blocking(window: Window) -> FloatArray:
    """Part of a batch for which each executor alone is waited for, 0 to 1, (n_executors,)."""
    ends = np.bincount(window.owner, window.task_s, window.n_executors) / window.slots
    blocked = np.zeros(ends.size)
    if ends.size > 1 and ends.max() > 0:
        second, last = np.argsort(ends, kind="stable")[-2:]
        blocked[last] = (ends[last] - ends[second]) / ends[last]
    return blocked
