"""A series of batches at a cut: what each executor's key groups took after it against before, beside the others."""

from __future__ import annotations

import functools
import math

import numpy as np
from scipy import special

from streamjob_planners.arrays import FloatArray, IntArray, median, steadier
from streamjob_planners.capacity.own_rows import OwnRows
from streamjob_planners.capacity.pace import MEDIAN_COST

LEAST_BEFORE = 5
"""Rows before a cut at least: what is usual has to be known."""
LEAST_NOISE = 0.05
"""Standard deviation of an executor's row that is taken for granted, in logarithms."""
SPEAKS = 0.5
"""Part of the step that rows after the cut, and key groups, must show."""
MOST_MUST_SPEAK = 0.75
"""Part of the rows after the cut, and of the executor's key groups, that must show it; of up to three rows each."""
KNOWS = 0.5
"""Degrees of freedom that an executor's row adds to what is known of the noise, by medians."""
ABOVE = 0.9
"""Part of the rows before the cut that those after it must be beyond."""
_MAD = 1.4826


class Cut:
    """Rows from a cut on against those before it; `logs` are what key groups took, (n_rows, n_groups), in so many
    `batches` each, (n_rows,): rows of more than those after the cut count as if they varied as much."""

    def __init__(self, logs: FloatArray, batches: IntArray, ran: OwnRows, after: int) -> None:
        self.row = len(logs) - after
        self._after, self._executor, self._n = after, ran.executor, ran.n_executors
        off = logs - median(logs[: self.row])
        off[: self.row] *= steadier(batches[: self.row], float(batches[self.row :].mean()))[:, None]
        off = off - median(off.T)[:, None]  # what all have in common in a row is no key group's
        off = off - median(off[: self.row])
        by_executor = ran.medians(off)
        usual = self._usual(by_executor)
        self._off, self._by_executor = off - usual[:, None], by_executor - usual[:, None]
        there = np.isfinite(self._by_executor)
        enough = there[self.row :].all(axis=0) & (there[: self.row].sum(axis=0) >= LEAST_BEFORE)
        self.compared: list[int] = np.flatnonzero(enough).tolist()

    def _usual(self, by_executor: FloatArray) -> FloatArray:
        """What most executors' key groups took in each row, (n_rows,): of two the faster one's."""
        ordered = np.sort(by_executor, axis=1)  # NaN last
        count = np.isfinite(by_executor).sum(axis=1)
        low, high = (count - 1) // 2, np.where(count > 2, count // 2, 0)  # of none the last of all, NaN too
        rows = np.arange(len(ordered))
        middle: FloatArray = (ordered[rows, low] + ordered[rows, high]) / 2.0
        return np.where(np.isfinite(middle), middle, 0.0)

    def _groups(self, executor: int) -> int:
        """Key groups that it had in every row after the cut, at least."""
        return int((self._executor[self.row :] == executor).sum(axis=1).min())

    @functools.cached_property
    def _group_noise(self) -> float:
        """Standard deviation of a key group's row beside its executor's others."""
        own = np.take_along_axis(self._by_executor, np.maximum(self._executor, 0), axis=1)
        return _spread((self._off - own)[: self.row].ravel())

    @functools.cached_property
    def _noise(self) -> FloatArray:
        """Standard deviation of each executor's row, (n_executors,): by its key groups, and by the rows themselves.

        It takes twice as long as all else here, and at most cuts no executor is so far off that anybody asks.
        """
        count = np.array([max(1, self._groups(one)) for one in range(self._n)])
        cost = np.where(count > 2, MEDIAN_COST, 1.0)
        alone = self._group_noise * np.sqrt(cost / count)
        seen = np.array([_spread_of_rows(self._by_executor[: self.row, one]) for one in range(self._n)])
        told = np.isfinite(seen) & (alone > 0)
        together = max(1.0, float(np.median(seen[told] / alone[told]))) if told.any() else 1.0
        noise: FloatArray = np.maximum(together * alone, np.where(told, seen, 0.0))
        return np.maximum(noise, LEAST_NOISE)

    def step(self, executor: int) -> float:
        """Logarithm of how many times longer its tasks take after the cut; 0.0 where rows do not agree."""
        rows, before = self._by_executor[self.row :, executor], self._by_executor[: self.row, executor]
        step = float(rows.mean() if rows.size <= 3 else median(rows))
        if step == 0.0:
            return 0.0
        usual = float(np.sort(before[np.isfinite(before)] / step)[_place(before)])
        speak = int((rows / step >= max(SPEAKS, usual)).sum())
        return step if speak >= (rows.size if rows.size <= 3 else MOST_MUST_SPEAK * rows.size) else 0.0

    def error(self, executor: int) -> float:
        """Standard error of the step, that of what is usual among it."""
        rows = math.sqrt((1.0 if self._after <= 3 else MEDIAN_COST) / self._after + MEDIAN_COST / self.row)
        usual = MEDIAN_COST / len(self.compared) * float(np.mean(self._noise[self.compared] ** 2))
        return rows * math.sqrt(float(self._noise[executor]) ** 2 + usual)

    def sure(self, sure: float) -> float:
        """Standard errors that are as sure, since the noise is known by few rows."""
        freedom = 1.0 + KNOWS * self.row * max(1, len(self.compared) - 1)
        return -float(special.stdtrit(freedom, float(special.ndtr(-sure))))

    def unlike(self, executor: int, least: float) -> bool:
        """Whether its tasks take longer after the cut by `least` or more, and no executor was half as far off before.

        Where single batches on some executor are slow now and then, none is slow for good because of one.
        """
        step, before = self.step(executor), self._by_executor[: self.row]
        return step >= max(least, 2.0 * float(np.abs(before[np.isfinite(before)]).max(initial=0.0)))

    def agreed(self, executor: int, groups: int) -> bool:
        """Whether most of its key groups, and as many at least, show the step by themselves, and not much more.

        Of one row those that it had in the row before, too: who came may have taken this long elsewhere.
        """
        step = self.step(executor)
        mine = (self._executor[min(self.row, len(self._executor) - 2) :] == executor).all(axis=0)
        each = self._off[self.row :, mine].mean(axis=0)
        noise = self._group_noise * math.sqrt(1.0 / self._after + MEDIAN_COST / self.row)
        near = np.abs(each - step) <= max(SPEAKS * abs(step), 2.5 * noise)
        return bool(near.sum() >= max(groups, MOST_MUST_SPEAK * near.size))


def _place(before: FloatArray) -> int:
    """Of the row, in order, that rows after the cut must be beyond; NaN are none."""
    return math.ceil(ABOVE * (int(np.isfinite(before).sum()) - 1))


def _spread(values: FloatArray) -> float:
    """Standard deviation by the median difference from the median; NaN of none."""
    values = values[np.isfinite(values)]
    return _MAD * float(median(np.abs(values - median(values)))) if values.size else math.nan


def _spread_of_rows(values: FloatArray) -> float:
    """The same of an executor's rows, without the oddest one at least the root of their mean square: of few executors
    each is in turn the usual one, 0 from itself, and a median sees little else."""
    values = values[np.isfinite(values)]
    squares = np.sort((values - median(values)) ** 2)[:-1] if values.size else values
    return max(_spread(values), math.sqrt(float(squares.mean()))) if squares.size else math.nan
