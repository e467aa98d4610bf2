"""What a batch takes on n equal executors, as a line over its rows."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners.batch.ideal import placed_ideally
from streamjob_planners.batch.predict import Binding, bindings, ends_at, levels_s, longest, noise_s
from streamjob_planners.batch.work import Work
from streamjob_planners.sizing.lateness import Duration, duration


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pace:
    """A batch of R rows takes ``fixed_s + row_s R`` seconds in the mean, with a standard deviation of `spread_ratio` of
    that; `longest` is the part that takes most of it."""

    executors: int
    fixed_s: float
    row_s: float
    spread_ratio: float
    longest: Binding

    def batch_s(self, rows: float) -> float:
        """Mean seconds of a batch of so many rows."""
        return self.fixed_s + self.row_s * rows

    def batch(self, rows: float) -> Duration:
        """Its distribution."""
        mean_s = self.batch_s(rows)
        return Duration(mean_s=mean_s, spread_s=self.spread_ratio * mean_s)

    @property
    def most_rps(self) -> float:
        """Rows a second that are taken in by batches without end: the true processing rate; infinite where rows take no
        time.

        "Three steps is all you need" (Kalavri et al., OSDI 2018, 3.2) has it from busy time alone; here waiting for the
        slowest slot counts as well.
        """
        return 1.0 / self.row_s if self.row_s > 0 else np.inf

    def settled_rows(self, rate_rps: float, trigger_s: float) -> float | None:
        """Rows of a batch once batches hold what arrives meanwhile; None where they would grow without end."""
        rows = rate_rps * trigger_s
        if self.batch_s(rows) <= trigger_s:
            return rows
        busy_ratio = rate_rps * self.row_s
        return rate_rps * self.fixed_s / (1.0 - busy_ratio) if busy_ratio < 1.0 else None


Paces = Callable[[int], Pace]
"""What batches take on so many executors."""


def pace(work: Work, rows: float, executors: int, slots: int, common_ratio: float = 0.0) -> Pace:
    """The line through batches of `rows` (> 0) and of half as many, each level placed by `placed_ideally`.

    `common_ratio`: see `duration`. Raises ValueError for no rows, executors or slots.
    """
    if not rows > 0 or executors < 1 or slots < 1:
        raise ValueError(f"rows, executors, slots: {rows}, {executors} and {slots} given, all must be above 0")
    shape, smaller = (work.shape(one, executors, slots) for one in (rows, rows / 2.0))
    owner, node_s = placed_ideally(shape)
    whole = ends_at(shape, node_s)
    found = duration(shape, owner, whole, common_ratio)
    # Tasks that take half as long each end in half the time, to the last digit; it need not be worked out again.
    half = ends_at(smaller, levels_s(smaller, owner, smaller.task_s) if work.task_fixed_s.any() else node_s / 2.0)
    half_s = half.batch_s + noise_s(smaller, owner, half.node_s)
    row_s = max(0.0, found.mean_s - half_s) / (rows / 2.0)
    return Pace(
        executors=executors,
        fixed_s=max(0.0, found.mean_s - row_s * rows),
        row_s=row_s,
        spread_ratio=found.spread_s / found.mean_s if found.mean_s > 0 else 0.0,
        longest=longest(whole, bindings(shape, owner, whole.node_s)),
    )
