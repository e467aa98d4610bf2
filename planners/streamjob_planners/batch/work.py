"""What a batch takes by the rows that are in it."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.shape import BatchShape, FreeStage


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class FreeWork:
    """A stage without key groups: slot seconds of a batch and of each row in it, the longest task's part of both, and
    the level, of which all stages run side by side."""

    fixed_s: float = 0.0
    row_s: float = 0.0
    longest_ratio: float = 0.0
    level: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Work:
    """What a batch is made of, by rows. Raises ValueError, with the field's name, for a value below 0.

    Attributes:
        level: level of each key group's stage, (n_groups,).
        task_fixed_s: seconds that each group's task takes without a row, (n_groups,).
        task_row_s: seconds that it takes for each row of the whole batch: a row's time times the part of all rows that
            the group gets, (n_groups,).
        spread_ratio: standard deviation of a task from batch to batch over its mean, (n_groups,).
        fixed_s: seconds of a batch that no executor changes.
        free: stages without key groups.
    """

    level: IntArray
    task_fixed_s: FloatArray
    task_row_s: FloatArray
    spread_ratio: FloatArray
    fixed_s: float = 0.0
    free: tuple[FreeWork, ...] = ()

    def __post_init__(self) -> None:
        for name in ("task_fixed_s", "task_row_s", "spread_ratio", "fixed_s"):
            value = np.asarray(getattr(self, name))
            if not bool(np.isfinite(value).all() and (value >= 0).all()):
                raise ValueError(f"{name}: every value must be a finite number of 0 or more")

    def shape(self, rows: float, executors: int, slots: int) -> BatchShape:
        """A batch of so many rows on equal executors."""
        task_s = self.task_fixed_s + self.task_row_s * rows
        return BatchShape(
            level=self.level,
            task_s=task_s,
            spread_s=self.spread_ratio * task_s,
            slots=np.full(executors, slots, dtype=np.int64),
            speed=np.ones(executors),
            fixed_s=self.fixed_s,
            free_stages=tuple(_free_stage(one, rows) for one in self.free),
        )

    def endless(self) -> Work:
        """The same without its fixed parts: what counts in batches without end."""
        return dataclasses.replace(
            self,
            task_fixed_s=np.zeros(self.level.size),
            fixed_s=0.0,
            free=tuple(dataclasses.replace(one, fixed_s=0.0) for one in self.free),
        )


def work_of(shape: BatchShape, rows: float, task_fixed_s: FloatArray | float = 0.0) -> Work:
    """What a batch that held so many rows says of other batches; `task_fixed_s` of each task does not go with rows.

    Raises ValueError for rows of 0 or less.
    """
    if not rows > 0:
        raise ValueError(f"rows: {rows} given, a number above 0 is needed")
    fixed_s = np.minimum(np.broadcast_to(np.asarray(task_fixed_s, dtype=np.float64), shape.task_s.shape), shape.task_s)
    return Work(
        level=shape.level,
        task_fixed_s=fixed_s,
        task_row_s=(shape.task_s - fixed_s) / rows,
        spread_ratio=shape.spread_s / np.where(shape.task_s > 0, shape.task_s, np.inf),
        fixed_s=shape.fixed_s,
        free=tuple(
            FreeWork(
                row_s=one.work_s / rows,
                longest_ratio=one.longest_s / one.work_s if one.work_s > 0 else 0.0,
                level=one.level,
            )
            for one in shape.free_stages
        ),
    )


def _free_stage(work: FreeWork, rows: float) -> FreeStage:
    work_s = work.fixed_s + work.row_s * rows
    return FreeStage(work_s=work_s, longest_s=work.longest_ratio * work_s, level=work.level)
