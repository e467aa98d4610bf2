"""The time of a batch under a placement, its parts, and what binds it."""

from __future__ import annotations

import dataclasses
import enum
from collections import defaultdict

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.chance import expected_excess
from streamjob_planners.batch.schedule import finish_many_s, finish_s
from streamjob_planners.batch.shape import BatchShape

ALONE = 0.95
"""Part of its node's time from which one task counts as what that node waits for."""


class Part(enum.StrEnum):
    """A part of a batch."""

    FIXED = "Fixed"  # planning, commits, launching tasks
    FREE_STAGE = "FreeStage"  # stages without key groups
    EXECUTOR = "Executor"  # all that one executor has to do in a level
    KEY_GROUP = "KeyGroup"  # one key group alone


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Binding:
    """What decides one part of a batch: `seconds` of it; level, node and group where they apply, as indices."""

    part: Part
    seconds: float
    level: int | None = None
    node: int | None = None
    group: int | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """A batch under one placement in which every task takes its mean, in seconds.

    Attributes:
        fixed_s, free_s: the parts that no placement changes.
        node_s: when each node has ended its part of each level, from the level's start, (n_levels, n_nodes).
    """

    fixed_s: float
    free_s: float
    node_s: FloatArray

    @property
    def level_s(self) -> FloatArray:
        """Length of each level, (n_levels,)."""
        longest: FloatArray = self.node_s.max(axis=1, initial=0.0)
        return longest

    @property
    def batch_s(self) -> float:
        """The batch if every task took its mean: what planners make small."""
        return self.fixed_s + self.free_s + float(self.level_s.sum())


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Predicted(Ends):
    """The same with what chance adds and what it waits for.

    Attributes:
        noise_s: what the spread of task times adds to the sum of the levels, expected.
        bindings: one per level, by the node that ends last.
    """

    noise_s: float
    bindings: tuple[Binding, ...]

    @property
    def expected_s(self) -> float:
        """The batch as it is to be expected, with what chance adds."""
        return self.batch_s + self.noise_s

    @property
    def longest(self) -> Binding:
        """The part that takes most of the batch."""
        return longest(self, self.bindings)


def longest(batch: Ends, bindings: tuple[Binding, ...]) -> Binding:
    """The part that takes most of a batch."""
    others = (
        Binding(part=Part.FIXED, seconds=batch.fixed_s),
        Binding(part=Part.FREE_STAGE, seconds=batch.free_s),
    )
    return max((*bindings, *others), key=lambda one: one.seconds)


def ends(shape: BatchShape, node_of: IntArray, extra_s: FloatArray | None = None) -> Ends:
    """See :func:`predict`; without what chance adds and what binds, which take most of its time."""
    return ends_at(shape, levels_s(shape, node_of, shape.task_s if extra_s is None else shape.task_s + extra_s))


def ends_at(shape: BatchShape, node_s: FloatArray) -> Ends:
    """The same where it is known when each node ends its part of each level, (n_levels, n_nodes)."""
    return Ends(fixed_s=shape.fixed_s, free_s=free_s(shape), node_s=node_s)


def predict(shape: BatchShape, node_of: IntArray, extra_s: FloatArray | None = None) -> Predicted:
    """The batch under `node_of`, (n_groups,).

    `extra_s`: further seconds of each group's task in this batch, as for loading its state after a move, (n_groups,).
    """
    batch = ends(shape, node_of, extra_s)
    return Predicted(
        fixed_s=batch.fixed_s,
        free_s=batch.free_s,
        node_s=batch.node_s,
        noise_s=noise_s(shape, node_of, batch.node_s),
        bindings=bindings(shape, node_of, batch.node_s, extra_s),
    )


def bindings(
    shape: BatchShape, node_of: IntArray, node_s: FloatArray, extra_s: FloatArray | None = None
) -> tuple[Binding, ...]:
    """What each level waits for, by the node that ends last; `node_s` is what `ends` says of the placement."""
    task_s = shape.task_s if extra_s is None else shape.task_s + extra_s
    return tuple(_binding(shape, node_of, task_s, node_s[level], level) for level in range(shape.n_levels))


def levels_s(shape: BatchShape, node_of: IntArray, task_s: FloatArray) -> FloatArray:
    """When each node ends its part of each level, (n_levels, n_nodes); `task_s` in place of the shape's own."""
    node_s = np.zeros((shape.n_levels, shape.slots.size))
    for level in range(shape.n_levels):
        here = shape.level == level
        node_s[level] = finish_s(task_s[here], node_of[here], shape.slots, shape.speed)
    return node_s


def batches_s(shape: BatchShape, node_of: IntArray, rows_s: FloatArray) -> FloatArray:
    """`Predicted.batch_s` of many batches, (n_rows,), whose tasks take `rows_s`, (n_rows, n_groups)."""
    levels = (shape.level == level for level in range(shape.n_levels))
    ends = [finish_many_s(rows_s[:, here], node_of[here], shape.slots, shape.speed).max(axis=1) for here in levels]
    tasks_s = np.stack(ends, axis=1).sum(axis=1) if ends else np.zeros(len(rows_s))
    return np.asarray(rest_s(shape) + tasks_s)


def rest_s(shape: BatchShape) -> float:
    """Seconds of a batch that no placement changes: its fixed part, and the stages without key groups."""
    return shape.fixed_s + free_s(shape)


def free_s(shape: BatchShape) -> float:
    """Seconds of the stages without key groups on all slots: spread evenly, but no task is split. Those of one level
    share the slots."""
    slots = int(shape.slots.sum())
    work_s: dict[int, float] = defaultdict(float)
    longest_s: dict[int, float] = defaultdict(float)
    for stage in shape.free_stages:
        work_s[stage.level] += stage.work_s
        longest_s[stage.level] = max(longest_s[stage.level], stage.longest_s)
    return sum(max(total / max(slots, 1), longest_s[level]) for level, total in work_s.items())


def noise_s(shape: BatchShape, node_of: IntArray, node_s: FloatArray) -> float:
    """What the spread of task times adds to the sum of the levels, expected seconds; a node of c slots has the spread
    of its sum over c. `node_s` is what `ends` says of the placement."""
    if not shape.spread_s.any():
        return 0.0
    total, n_nodes = 0.0, shape.slots.size
    for level in range(shape.n_levels):
        here = shape.level == level
        variance = np.bincount(node_of[here], shape.spread_s[here] ** 2, n_nodes)
        total += expected_excess(node_s[level], np.sqrt(variance) / (shape.slots * shape.speed))
    return total


def _binding(shape: BatchShape, node_of: IntArray, task_s: FloatArray, node_s: FloatArray, level: int) -> Binding:
    node = int(node_s.argmax())
    seconds = float(node_s[node])
    own = np.flatnonzero((shape.level == level) & (node_of == node))
    if own.size == 0:
        return Binding(part=Part.EXECUTOR, seconds=seconds, level=level, node=node)
    group = int(own[task_s[own].argmax()])
    alone = task_s[group] / shape.speed[node] >= ALONE * seconds
    return Binding(
        part=Part.KEY_GROUP if alone else Part.EXECUTOR,
        seconds=seconds,
        level=level,
        node=node,
        group=group if alone else None,
    )
