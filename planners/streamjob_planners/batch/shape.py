"""What a micro-batch of one query is made of, whatever executor its key groups are on."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FreeStage:
    """A stage without key groups: its tasks run wherever a slot is free.

    `work_s`: slot seconds of all its tasks in one batch, >= 0; `longest_s`: seconds of its longest task, <= work_s;
    `level`: stages of one level run side by side, as the sources of a join do.
    """

    work_s: float
    longest_s: float = 0.0
    level: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchShape:
    """The parts of a batch. Arrays are never mutated; a bad value raises ValueError with the field's name.

    Every key group is one task of each batch, bound to the executor that owns the group. Stages of one level run side
    by side, levels one after another: chained operators are levels 0, 1, 2, ..., branches of a union share one.

    Attributes:
        level: level of each group's stage, 0 or more, (n_groups,).
        task_s: mean seconds of the group's task in one batch on a node of speed 1, >= 0, (n_groups,).
        spread_s: standard deviation of that from batch to batch, >= 0, (n_groups,).
        error_s: standard error of `task_s`, >= 0, (n_groups,); None where it is exact, or nobody knows.
        slots: tasks that each node runs at a time, 1 or more, (n_nodes,).
        speed: how fast each node works, 1.0 is the reference node, > 0, (n_nodes,).
        fixed_s: seconds of a batch that no executor changes: planning, commits, launching tasks; >= 0.
        free_stages: the stages without key groups.
    """

    level: IntArray
    task_s: FloatArray
    spread_s: FloatArray
    slots: IntArray
    speed: FloatArray
    error_s: FloatArray | None = None
    fixed_s: float = 0.0
    free_stages: tuple[FreeStage, ...] = ()

    def __post_init__(self) -> None:
        for name, array, least in (
            ("level", self.level, 0),
            ("task_s", self.task_s, 0),
            ("spread_s", self.spread_s, 0),
            ("error_s", self.error_s, 0),
            ("slots", self.slots, 1),
        ):
            if array is not None and not bool(np.isfinite(array).all() and (array >= least).all()):
                raise ValueError(f"{name}: every value must be a finite number of {least} or more")
        if not bool(np.isfinite(self.speed).all() and (self.speed > 0).all()):
            raise ValueError("speed: every value must be a finite number above 0")
        free = (("free_stages", value) for one in self.free_stages for value in (one.work_s, one.longest_s))
        for name, value in (("fixed_s", self.fixed_s), *free):
            if not 0 <= value < np.inf:
                raise ValueError(f"{name}: {value} given, a finite number of 0 or more is needed")

    @property
    def n_levels(self) -> int:
        """Levels that hold key groups."""
        return int(self.level.max(initial=-1)) + 1

    def check_shapes(self, n_nodes: int, n_groups: int) -> None:
        """Raises ValueError where an array does not fit a model of that size."""
        per_group = ("level", "task_s", "spread_s", "error_s")
        for names, length in ((per_group, n_groups), (("slots", "speed"), n_nodes)):
            for name in names:
                array = getattr(self, name)
                if array is not None and array.shape != (length,):
                    raise ValueError(f"batch.{name}: shape {array.shape} given, ({length},) is needed")

    def with_nodes(self, n: int, slots: int, speed: float = 1.0) -> BatchShape:
        """The same with n more nodes."""
        return dataclasses.replace(
            self,
            slots=np.append(self.slots, np.full(n, slots, dtype=np.int64)),
            speed=np.append(self.speed, np.full(n, float(speed))),
        )
