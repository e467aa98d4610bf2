"""Which task runs when and where in a predicted batch: what a picture of it shows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamjob_planners.arrays import IntArray
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.shape import BatchShape


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """One task: seconds from the batch's start, on a slot of a node, both counted from 0."""

    group: int
    level: int
    node: int
    slot: int
    start_s: float
    end_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Timetable:
    """A batch: first the fixed part, then the stages without key groups, then level after level.

    Attributes:
        fixed_s, free_s: lengths of the first two parts.
        level_start_s: when each level begins; its last entry is the batch's end, (n_levels + 1,).
        runs: every task, level by level.
    """

    fixed_s: float
    free_s: float
    level_start_s: tuple[float, ...]
    runs: tuple[Run, ...]


def timetable(shape: BatchShape, node_of: IntArray) -> Timetable:
    """The predicted batch if every task takes its mean; `node_of`: (n_groups,)."""
    batch = ends(shape, node_of)
    starts_s = batch.fixed_s + batch.free_s + np.concatenate([[0.0], np.cumsum(batch.level_s)])
    runs = tuple(
        run for level in range(shape.n_levels) for run in _level(shape, node_of, level, float(starts_s[level]))
    )
    return Timetable(
        fixed_s=batch.fixed_s, free_s=batch.free_s, level_start_s=tuple(float(one) for one in starts_s), runs=runs
    )


def _level(shape: BatchShape, node_of: IntArray, level: int, start_s: float) -> Iterator[Run]:
    free_at_s = [[start_s] * int(slots) for slots in shape.slots]
    for group in np.flatnonzero(shape.level == level).tolist():
        node = int(node_of[group])
        slot = int(np.argmin(free_at_s[node]))
        begin_s = free_at_s[node][slot]
        end_s = begin_s + float(shape.task_s[group] / shape.speed[node])
        free_at_s[node][slot] = end_s
        yield Run(group=group, level=level, node=node, slot=slot, start_s=begin_s, end_s=end_s)
