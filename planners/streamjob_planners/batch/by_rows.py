"""What tasks take by the rows of their batch: seconds of a batch that rows do not change, and seconds for each row.

The seconds of an operator's tasks are laid along a straight line over the rows of the whole batch, whose level may
drift meanwhile (`drifting_line`), batches weighing alike but for odd ones, which count for nothing (`odd_batches`). The
line says something only where rows have varied: its slope must be known well enough to tell tasks that go with their
rows from tasks that do not care, and not by one batch alone. Elsewhere nobody knows, and it is said so.

What rows do not change is of two kinds: Spark's own seconds of a task, which are the same for all tasks of an operator,
and what goes with a key group's size, such as work on its whole state. Lines of single groups tell them apart: where
they begin, without a row, lies on a line itself over what the groups take.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy.special import stdtrit

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.odd_batches import LEAST_ROWS, MOST_KNOWN, Slope, slope_of

SURE = 0.975
"""Of a slope's interval, one-sided by Student's distribution: it holds nineteen of twenty."""
DEVIATIONS = 2.0
"""Standard errors that what all tasks have alike must be above."""
LEAST_TASKS = 8
"""Key groups of an operator from which their lines tell what all of its tasks have alike."""
MOST_BY_SIZE = 0.9
"""Part of a task that goes with its size and no row, from which what all have alike cannot be told from it."""
MOST_LEVERAGE = 0.99
"""Of one group on that line: one that decides it alone has no error that could be told."""
KNOWN = 0.5
"""Largest half width of that interval, as a part of the slope of tasks that go with their rows: a slope that may as
well be 0 as that one explains nothing."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """One operator's tasks together: the part of a mean batch's seconds that rows do not change, 0 to 1, and half the
    width of its interval. `task_s` of it are those that every task has alike, seconds; 0 where nobody knows. `odd`:
    batches that it was laid without."""

    fixed_ratio: float
    error_ratio: float
    task_s: float = 0.0
    odd: int = 0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupSeconds:
    """Seconds of each key group's task in a batch, of so many batches with so many rows in the mean.

    Attributes:
        mean_s: mean of the batches that its operator's line counts; of all where it has none, (n_groups,).
        rows: rows of the whole batch, in the mean of the same, (n_groups,).
        batches: how many there were, odd ones included.
        fixed_ratio: part of `mean_s` that rows do not change, 0 to 1, (n_groups,): what all tasks have alike, and the
            same part of the rest; 0 where nobody knows, as seconds that go with rows are never too few for more rows.
        lines: by operator; an operator of which rows explain nothing has none.
    """

    mean_s: FloatArray
    rows: FloatArray
    batches: int
    fixed_ratio: FloatArray
    lines: dict[int, Line]

    @property
    def row_s(self) -> FloatArray:
        """Seconds for each row of the whole batch, (n_groups,); 0 where batches held none."""
        by_rows_s = self.mean_s * (1.0 - self.fixed_ratio)
        return np.divide(by_rows_s, self.rows, out=np.zeros(by_rows_s.size), where=self.rows > 0)

    def at(self, rows: float) -> FloatArray:
        """Seconds of each group's task in a batch of so many rows, (n_groups,)."""
        return np.where(self.rows > 0, self.mean_s * self.fixed_ratio + self.row_s * rows, self.mean_s)

    def grown(self, rows: float, ratio: float) -> float:
        """Seconds of all tasks of a batch with `ratio` times as many rows, over those with `rows`; 1.0 without work."""
        before_s = float(self.at(rows).sum())
        return float(self.at(ratio * rows).sum()) / before_s if before_s > 0 else 1.0


def seconds_by_rows(busy_s: FloatArray, rows: FloatArray, batches: IntArray, operator: IntArray) -> GroupSeconds:
    """What a series says of key groups.

    `busy_s` (n_rows, n_groups) and `rows` (n_rows,) are sums over `batches` (n_rows,) batches, one row of the series or
    more; `operator` (n_groups,) is each group's.
    """
    weight = batches.astype(np.float64)
    per_batch, batch_rows = busy_s / weight[:, None], rows / weight
    mean_s, mean_rows = _mean(per_batch, weight), np.full(operator.size, float(_mean(batch_rows, weight)))
    lines, fixed_ratio = {}, np.zeros(operator.size)
    for one in np.unique(operator).tolist():
        mine = operator == one
        found = _line(per_batch[:, mine], batch_rows, weight)
        if found is not None:
            lines[one], counted = found
            mean_s[mine], mean_rows[mine] = _mean(per_batch[:, mine], counted), _mean(batch_rows, counted)
            fixed_ratio[mine] = _parts(mean_s[mine], lines[one])
    return GroupSeconds(mean_s=mean_s, rows=mean_rows, batches=int(weight.sum()), fixed_ratio=fixed_ratio, lines=lines)


def _mean(values: FloatArray, weight: FloatArray) -> FloatArray:
    """Over rows of the series, along the first axis."""
    return np.asarray(weight @ values / weight.sum())


def _line(seconds: FloatArray, rows: FloatArray, weight: FloatArray) -> tuple[Line, FloatArray] | None:
    """The line of one operator, of whose tasks `seconds` are, (n_rows, n_groups), and the weights of rows, 0 for odd
    ones; None where rows explain nothing."""
    total_s = seconds.sum(axis=1)
    if weight.size < LEAST_ROWS or not total_s.any() or not np.ptp(rows) > 0:
        return None
    slope = slope_of(total_s, rows, weight)
    counted = weight * slope.counts
    mean_s, mean_rows = (float(_mean(one, counted)) for one in (total_s, rows))
    if slope.most_known > MOST_KNOWN or mean_s <= 0:
        return None
    whole = mean_s / mean_rows  # the slope of tasks that take nothing without a row
    error_ratio = float(stdtrit(np.count_nonzero(counted) - 2, SURE)) * slope.error / whole
    if error_ratio > KNOWN:
        return None
    fixed_ratio = float(np.clip(1.0 - slope.value / whole, 0.0, 1.0))
    task_s = _alike_s(seconds, rows, counted, slope, fixed_ratio)
    odd = int((weight - counted).sum())
    return Line(fixed_ratio=fixed_ratio, error_ratio=error_ratio, task_s=task_s, odd=odd), counted


def _alike_s(seconds: FloatArray, rows: FloatArray, weight: FloatArray, line: Slope, fixed_ratio: float) -> float:
    """Seconds without a row that each of an operator's tasks has alike; 0 where chance may be all that shows them.

    `seconds` (n_rows, n_groups). Where groups' lines begin is laid along a line over their means, lighter ones with
    more weight. Whether noise goes with the seconds or with their root, the error is told by what single groups show
    when they are left out (MacKinnon and White, Journal of Econometrics 29, 1985).
    """
    mean_s, mean_rows = _mean(seconds, weight), float(_mean(rows, weight))
    known = mean_s > 0
    if int(known.sum()) < LEAST_TASKS:
        return 0.0
    slope = line.weights @ (seconds - mean_s)
    size, begin = mean_s[known], (mean_s - slope * mean_rows)[known]
    columns = np.stack([1.0 / np.sqrt(size), np.sqrt(size)], axis=1)  # of 1 and of the size, over the deviation
    inverse = np.linalg.pinv(columns.T @ columns)
    fit: FloatArray = inverse @ columns.T @ (begin / np.sqrt(size))
    first_s, by_size = float(fit[0]), float(fit[1])
    left = (begin - first_s - by_size * size) / np.sqrt(size)
    leverage = np.minimum((columns @ inverse * columns).sum(axis=1), MOST_LEVERAGE)
    error_s = DEVIATIONS * float(np.sqrt(((inverse[0] @ columns.T * left / (1.0 - leverage)) ** 2).sum()))
    most_s = fixed_ratio * float(size.mean())
    if first_s <= error_s:
        return 0.0
    # A group begins at alike + by_size (mean - alike): what all have alike does not go with the size once more.
    return min(most_s, first_s / (1.0 - min(max(by_size, 0.0), MOST_BY_SIZE)))


def _parts(mean_s: FloatArray, line: Line) -> FloatArray:
    """The part of each of an operator's tasks that rows do not change, (n_groups,): together they are the line's."""
    alike_s = np.minimum(mean_s, line.task_s)
    rest_s = mean_s - alike_s
    left_s = max(0.0, line.fixed_ratio * float(mean_s.sum()) - float(alike_s.sum()))
    by_size = left_s / float(rest_s.sum()) if rest_s.any() else 0.0
    fixed_s: FloatArray = alike_s + by_size * rest_s
    ratio: FloatArray = np.divide(fixed_s, mean_s, out=np.full(mean_s.size, line.fixed_ratio), where=mean_s > 0)
    return ratio
