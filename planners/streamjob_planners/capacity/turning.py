"""Executors that became slower, or faster, within a series of batches: when, and by how much.

Each key group's seconds are held against its own median before a cut of the series, and each executor's key groups
against those of most. An executor has turned where its key groups all take longer by one factor from the cut on while
those of the others do not, beyond what rows before the cut varied by. Seconds of a row are looked at as well: what more
rows explain is load. No key group has to move for it. One that was slow in all rows cannot be told from heavy load.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator

import numpy as np
from scipy import special

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray, median
from streamjob_planners.capacity.pace import LEAST_FACTOR, MEDIAN_COST

LEAST_BEFORE, LEAST_AFTER = 5, 2
"""Rows on either side of a cut: what is usual has to be known, and one row may be a pause."""
MOST_GROUPS = 512
"""The heaviest key groups are looked at."""
SURE, SURE_KNOWN = 4.5, 3.0
"""Standard errors that a step must be away from 0, were the noise known; of an executor that is known to be slow, that
it recovers is to be expected. What few rows say of the noise asks for more, by Student's distribution."""
NOTICED = 3.0
"""The same from which it is waited for more rows before what they say is taken for load."""
HELD = 6
"""Rows for which that is waited at most."""
KNOWS = 0.5
"""Degrees of freedom that an executor's row adds to what is known of the noise, by medians."""
ABOVE = 0.9
"""Part of the rows before the cut that those after it must be beyond."""
LEAST_NOISE = 0.05
"""Standard deviation of an executor's row that is taken for granted, in logarithms."""
SPEAKS = 0.5
"""Part of the step that rows after the cut, and key groups, must show."""
MOST_MUST_SPEAK = 0.75
"""Part of the rows after the cut, and of the executor's key groups, that must show it; of up to three rows each."""
FEWEST_GROUPS = 2
"""Key groups that must agree; of an executor that is known to be slow one is enough."""
_MAD = 1.4826


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """Batches one by one, oldest first, all (n_rows, n_groups).

    Attributes:
        seconds: of each key group's task, >= 0, on an executor as fast as it was known to be.
        records: that the task read, >= 0.
        executor: index of the one that ran it, -1 where nobody knows.
    """

    seconds: FloatArray
    records: FloatArray
    executor: IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An executor's tasks take longer by exp(`slower`) from a row on; negative where they take less.

    `error` is the standard error of `slower`.
    """

    executor: int
    row: int
    slower: float
    error: float


def turns(rows: GroupRows, known: BoolArray) -> list[Turn]:
    """Every executor that turned, at most once each; `known`, (n_executors,), are those planned for as unequal."""
    found: list[Turn] = []
    held = _comparable(rows)
    while held.executor.size and len(found) < known.size:
        turn = _surest(_turns(held, np.where(known, SURE_KNOWN, SURE), known, _cuts(len(held.executor))))
        if turn is None or any(one.executor == turn.executor for one in found):
            break
        found.append(turn)
        held = _without(held, turn)
    return found


def suspected(rows: GroupRows, known: BoolArray) -> Turn | None:
    """An executor that may have turned within the newest rows, HELD at most, and is not sure to have."""
    return _surest(_turns(_comparable(rows), np.full(known.size, NOTICED), known, range(1, HELD + 1)))


def since(rows: GroupRows, executor: int, row: int) -> Turn | None:
    """By how much an executor turned at a row that is known, seen by all rows; None where too few are on a side."""
    held = _comparable(rows)
    if row < LEAST_BEFORE or len(held.executor) - row < LEAST_AFTER or not held.executor.size:
        return None
    cuts = _both(held, int(held.executor.max()) + 1, len(held.executor) - row)
    if executor not in cuts[0].compared:
        return None
    return _told(cuts, executor)


def _surest(found: Iterable[Turn]) -> Turn | None:
    return max(found, key=lambda one: abs(one.slower) / one.error, default=None)


def _without(rows: GroupRows, turn: Turn) -> GroupRows:
    mine = (rows.executor == turn.executor) & (np.arange(len(rows.executor)) >= turn.row)[:, None]
    return dataclasses.replace(rows, seconds=np.where(mine, rows.seconds * math.exp(-turn.slower), rows.seconds))


def _comparable(rows: GroupRows) -> GroupRows:
    """The heaviest key groups that every row tells of."""
    told = np.flatnonzero(((rows.seconds > 0) & (rows.executor >= 0)).all(axis=0))
    heavy = told[np.argsort(-rows.seconds[:, told].sum(axis=0), kind="stable")[:MOST_GROUPS]]
    return GroupRows(seconds=rows.seconds[:, heavy], records=rows.records[:, heavy], executor=rows.executor[:, heavy])


def _turns(rows: GroupRows, sure: FloatArray, known: BoolArray, cuts: Iterable[int]) -> Iterator[Turn]:
    """Turns that are (n_executors,) standard errors away from none, at cuts with so many rows after them."""
    for after in cuts:
        if len(rows.executor) - after < LEAST_BEFORE:
            break
        by_batch = _Cut(np.log(rows.seconds), rows.executor, known.size, after)
        far = [one for one in by_batch.compared if abs(by_batch.step(one)) >= math.log(LEAST_FACTOR)]
        if not far:
            continue
        both = (by_batch, _by_row(rows, known.size, after) or by_batch)
        for executor in far:
            turn = _turn(both, executor, sure[executor], 1 if known[executor] else FEWEST_GROUPS)
            if turn is not None:
                yield turn


def _cuts(n_rows: int) -> Iterator[int]:
    """Rows after each cut that is tried: nearly all of the newest, fewer of the older ones."""
    after = LEAST_AFTER
    while after < n_rows:
        yield after
        after += max(1, after // 2)


def _both(rows: GroupRows, n_executors: int, after: int) -> tuple[_Cut, _Cut]:
    by_batch = _Cut(np.log(rows.seconds), rows.executor, n_executors, after)
    return by_batch, _by_row(rows, n_executors, after) or by_batch


def _by_row(rows: GroupRows, n_executors: int, after: int) -> _Cut | None:
    """Seconds of a record; None where a task read none."""
    if not (rows.records > 0).all():
        return None
    return _Cut(np.log(rows.seconds / rows.records), rows.executor, n_executors, after)


def _turn(both: tuple[_Cut, _Cut], executor: int, sure: float, groups: int) -> Turn | None:
    """None where chance, or rows, explain what this executor's tasks took."""
    found = _told(both, executor)
    better = min(both, key=lambda one: one.error(executor))
    if abs(found.slower) < math.log(LEAST_FACTOR) or abs(better.step(executor)) < better.sure(sure) * found.error:
        return None
    return found if better.groups(executor) >= groups and better.agreed(executor) else None


def _told(both: tuple[_Cut, _Cut], executor: int) -> Turn:
    """What seconds of batches and those of records both say."""
    steps = [one.step(executor) for one in both]
    slower = min(steps, key=abs) if steps[0] * steps[1] > 0 else 0.0
    error = min(one.error(executor) for one in both)
    return Turn(executor=executor, row=both[0].row, slower=slower, error=error)


class _Cut:
    """Rows from a cut on against those before it; `logs` are what key groups took, (n_rows, n_groups)."""

    def __init__(self, logs: FloatArray, executor: IntArray, n_executors: int, after: int) -> None:
        self.row = len(logs) - after
        self._after, self._executor, self._n = after, executor, n_executors
        off = logs - median(logs[: self.row])
        off = off - median(off.T)[:, None]  # what all have in common in a row is no key group's
        off = off - median(off[: self.row])
        by_executor = self._medians(off)
        usual = self._usual(by_executor)
        self._off, self._by_executor = off - usual[:, None], by_executor - usual[:, None]
        there = np.isfinite(self._by_executor)
        enough = there[self.row :].all(axis=0) & (there[: self.row].sum(axis=0) >= LEAST_BEFORE)
        self.compared: list[int] = np.flatnonzero(enough).tolist()
        self._noise = self._noises()

    def _medians(self, off: FloatArray) -> FloatArray:
        """Of each executor's key groups in each row, (n_rows, n_executors); NaN where it has none."""
        found = np.full((len(off), self._n), np.nan)
        for one in range(self._n):
            mine = self._executor == one
            columns = np.flatnonzero(mine.any(axis=0))
            if mine[:, columns].all() and columns.size:
                found[:, one] = median(off[:, columns].T)
            else:
                for row in np.flatnonzero(mine.any(axis=1)).tolist():
                    found[row, one] = float(median(off[row, mine[row]]))
        return found

    def _usual(self, by_executor: FloatArray) -> FloatArray:
        """What most executors' key groups took in each row, (n_rows,): of two the faster one's."""
        ordered = np.sort(by_executor, axis=1)  # NaN last
        count = np.isfinite(by_executor).sum(axis=1)
        low, high = np.maximum(count - 1, 0) // 2, np.where(count > 2, count // 2, np.maximum(count - 1, 0) // 2)
        rows = np.arange(len(ordered))
        middle: FloatArray = (ordered[rows, low] + ordered[rows, high]) / 2.0
        return np.where(np.isfinite(middle), middle, 0.0)

    def groups(self, executor: int) -> int:
        """Key groups that it had in every row after the cut, at least."""
        return int((self._executor[self.row :] == executor).sum(axis=1).min())

    def _noises(self) -> FloatArray:
        """Standard deviation of each executor's row, (n_executors,): by its key groups, and by the rows themselves."""
        own = np.take_along_axis(self._by_executor, np.maximum(self._executor, 0), axis=1)
        self._group_noise = _spread((self._off - own)[: self.row].ravel())
        count = np.array([max(1, self.groups(one)) for one in range(self._n)])
        cost = np.where(count > 2, MEDIAN_COST, 1.0)
        alone = self._group_noise * np.sqrt(cost / count)
        seen = np.array([_spread(self._by_executor[: self.row, one]) for one in range(self._n)])
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

    def agreed(self, executor: int) -> bool:
        """Whether most of its key groups show the step by themselves, and not much more."""
        step = self.step(executor)
        mine = (self._executor[self.row :] == executor).all(axis=0)
        each = self._off[self.row :, mine].mean(axis=0)
        noise = self._group_noise * math.sqrt(1.0 / self._after + MEDIAN_COST / self.row)
        near = np.abs(each - step) <= max(SPEAKS * abs(step), 2.5 * noise)
        return bool(near.sum() >= MOST_MUST_SPEAK * near.size)


def _place(before: FloatArray) -> int:
    """Of the row, in order, that rows after the cut must be beyond; NaN are none."""
    return math.ceil(ABOVE * (int(np.isfinite(before).sum()) - 1))


def _spread(values: FloatArray) -> float:
    """Standard deviation by the median difference from the median; NaN of none."""
    values = values[np.isfinite(values)]
    return _MAD * float(median(np.abs(values - median(values)))) if values.size else math.nan
