"""How many rows a second executors can keep up with, and how many executors a rate needs.

A batch of R rows takes ``T(R)``: a fixed part, tasks that have a fixed part and seconds per row, each key group on the
executor where a longest-task-first placement of its level puts it. The next batch holds what arrived meanwhile, so a
rate r is kept up for ever where some R has ``r max(T(R), trigger) <= R``. ``R / T(R)`` rises with R, because fixed
parts weigh less and less: without an objective for the batch the largest rate is that of endless batches, with one it
is that of the largest batch within it.
"""

from __future__ import annotations

import dataclasses
import enum

from streamjob_planners.batch.ideal import ideal_placement
from streamjob_planners.batch.predict import Part, Predicted, predict
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch.work import Work

EVEN = 2.0
"""Largest task over the mean of its level up to which the number of partitions is what limits a level, not skew."""
HALVINGS = 40
"""Steps of a bisection between no rows and more than fit."""
CLOSE = 1e-9
"""Relative difference of rates that rounding makes."""


class Limit(enum.StrEnum):
    """What keeps executors from more rows a second."""

    NOTHING = "Nothing"  # rows take no time
    FIXED = "Fixed"  # planning, commits, launching tasks
    FREE_STAGE = "FreeStage"  # stages without key groups
    KEY_GROUP = "KeyGroup"  # one key group alone
    PARTITIONS = "Partitions"  # every task of a level has a slot of its own already
    EXECUTORS = "Executors"  # slots: more executors would help


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Sustained:
    """The largest rate, and what keeps it from being larger.

    Attributes:
        rate_rps: rows/s; None where rows take no time, so that there is no largest.
        rows, batch_s: rows and seconds of the batch at that rate; None for batches without end.
        limit: the part that takes most of the batch.
        level, group: of that part, as indices, where it is a level's or a key group's.
    """

    rate_rps: float | None
    rows: float | None
    batch_s: float | None
    limit: Limit
    level: int | None = None
    group: int | None = None

    def keeps_up(self, rate_rps: float) -> bool:
        """Whether that rate is within."""
        return self.rate_rps is None or self.rate_rps >= rate_rps * (1 - CLOSE)

    def times_short_of(self, rate_rps: float) -> float:
        """That rate in times of what is kept up; infinite where nothing is."""
        if self.rate_rps is None:
            return 1.0
        return rate_rps / self.rate_rps if self.rate_rps > 0 else float("inf")


def batch_of(work: Work, rows: float, executors: int, slots: int) -> Predicted:
    """A batch of so many rows, placed by `ideal_placement`."""
    shape = work.shape(rows, executors, slots)
    return predict(shape, ideal_placement(shape))


def largest_rate(
    work: Work, executors: int, slots: int, *, objective_s: float | None = None, trigger_s: float = 0.0
) -> Sustained:
    """The largest rate that so many executors keep up for ever, each with so many slots.

    `objective_s`: what a batch may take, as it is to be expected; as long as it likes where None. `trigger_s`: a batch
    is not begun sooner than so long after the one before. Raises ValueError for no executors or slots.
    """
    if executors < 1 or slots < 1:
        raise ValueError(f"executors, slots: {executors} and {slots} given, 1 or more of each is needed")
    endless = batch_of(work.endless(), 1.0, executors, slots)
    if endless.batch_s <= 0.0:
        return Sustained(rate_rps=None, rows=None, batch_s=None, limit=Limit.NOTHING)
    if objective_s is None:
        found = Sustained(rate_rps=1.0 / endless.expected_s, rows=None, batch_s=None, limit=Limit.EXECUTORS)
        return _with_limit(found, work.endless().shape(1.0, executors, slots), endless)
    rows = _most_rows(work, executors, slots, objective_s, endless)
    batch = batch_of(work, rows, executors, slots)
    rate_rps = rows / max(batch.expected_s, trigger_s) if rows > 0 else 0.0
    found = Sustained(rate_rps=rate_rps, rows=rows, batch_s=batch.expected_s, limit=Limit.EXECUTORS)
    return _with_limit(found, work.shape(rows, executors, slots), batch)


def fewest_executors(
    work: Work, rate_rps: float, slots: int, *, most: int, objective_s: float | None = None, trigger_s: float = 0.0
) -> int | None:
    """The fewest executors that keep up that rate, as `largest_rate` counts; None where not even `most` do.

    Raises ValueError for `most` or `slots` below 1.
    """

    def enough(executors: int) -> bool:
        if objective_s is None:
            return largest_rate(work, executors, slots).keeps_up(rate_rps)
        # Seconds rise with rows: the largest batch within the objective holds what arrives meanwhile, if this one does.
        rows = rate_rps * max(objective_s, trigger_s)
        return batch_of(work, rows, executors, slots).expected_s <= objective_s * (1 + CLOSE)

    if slots < 1 or most < 1:
        raise ValueError(f"most, slots: {most} and {slots} given, 1 or more of each is needed")

    if not enough(most):
        return None
    low, high = 0, 1  # `low` is too few
    while high < most and not enough(high):
        low, high = high, 2 * high
    high = min(high, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def _most_rows(work: Work, executors: int, slots: int, objective_s: float, endless: Predicted) -> float:
    """The largest batch within the objective, in rows; 0 where not even an empty one is.

    `endless` has the seconds per row, and no placement takes less than a quarter of them: longest task first is within
    4/3 of the best, and a list in another order within twice.
    """
    low, high = 0.0, 4.0 * objective_s / endless.batch_s
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        fits = batch_of(work, middle, executors, slots).expected_s <= objective_s
        low, high = (middle, high) if fits else (low, middle)
    return low


def _with_limit(found: Sustained, shape: BatchShape, batch: Predicted) -> Sustained:
    part = batch.longest
    if part.part is Part.FIXED:
        return dataclasses.replace(found, limit=Limit.FIXED)
    if part.part is Part.FREE_STAGE:
        return dataclasses.replace(found, limit=Limit.FREE_STAGE)
    if part.part is Part.EXECUTOR or part.group is None:
        return dataclasses.replace(found, limit=Limit.EXECUTORS, level=part.level)
    tasks_s = shape.task_s[shape.level == part.level]
    even = tasks_s.size <= shape.slots.sum() and float(tasks_s.max()) <= EVEN * float(tasks_s.mean())
    limit = Limit.PARTITIONS if even else Limit.KEY_GROUP
    return dataclasses.replace(found, limit=limit, level=part.level, group=part.group)
