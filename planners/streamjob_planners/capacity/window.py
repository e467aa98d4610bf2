"""What a capacity estimator is told, and what it answers."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray
from streamjob_planners.batch.evidence import TaskWindow


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Window:
    """Some batches of one placement. A bad window raises ValueError with the field's name.

    Attributes:
        executors: their ids.
        slots: tasks that each runs at a time, 1 or more, (n_executors,).
        operator, partition: of each key group, (n_groups,).
        owner: index of the executor that ran it, (n_groups,).
        task_s: mean seconds of its task in a batch, as measured, >= 0, (n_groups,).
        rows: mean rows of its task in a batch, >= 0, (n_groups,).
        moved: groups that came to their executor within the window, (n_groups,).
        batches: how many batches, 1 or more.
    """

    executors: tuple[str, ...]
    slots: IntArray
    operator: IntArray
    partition: IntArray
    owner: IntArray
    task_s: FloatArray
    rows: FloatArray
    moved: BoolArray
    batches: int = 1

    def __post_init__(self) -> None:
        if not self.executors or self.slots.shape != (self.n_executors,) or int(self.slots.min()) < 1:
            raise ValueError("slots: a number of 1 or more for each executor is needed, and at least one executor")
        if self.batches < 1:
            raise ValueError(f"batches: {self.batches} given, 1 or more is needed")
        for name in ("partition", "owner", "task_s", "rows", "moved"):
            if getattr(self, name).shape != self.operator.shape:
                raise ValueError(f"{name}: shape {getattr(self, name).shape} given, {self.operator.shape} is needed")
        for name in ("task_s", "rows"):
            values = getattr(self, name)
            if not bool(np.isfinite(values).all() and (values >= 0).all()):
                raise ValueError(f"{name}: every value must be a finite number of 0 or more")
        if self.owner.size and not 0 <= int(self.owner.min()) <= int(self.owner.max()) < self.n_executors:
            raise ValueError(f"owner: every value must be an index from 0 to {self.n_executors - 1}")

    @property
    def n_executors(self) -> int:
        """Number of executors."""
        return len(self.executors)

    def tasks(self, speed: FloatArray) -> TaskWindow:
        """As on executors of speed 1, where those of this window have `speed`, (n_executors,)."""
        return TaskWindow(
            operator=self.operator,
            partition=self.partition,
            task_s=self.task_s * speed[self.owner],
            owner=self.owner,
            batches=self.batches,
            new_ratio=1.0,
            spread_s={},
        )


class Estimator(Protocol):
    """What is known of executors' speeds. A value: `observed` gives the next one. Same windows, same speeds."""

    def observed(self, window: Window) -> Estimator:
        """After one more window."""

    def speeds(self, executors: tuple[str, ...]) -> FloatArray:
        """Speed of each, above 0, (n_executors,); 1.0 is that of most, and of those that nothing is known of."""
