"""Executors that became slower, or faster, within a series of batches: when, and by how much.

Each key group's seconds are held against its own median before a cut of the series, and each executor's key groups
against those of most. An executor has turned where its key groups all take longer by one factor from the cut on while
those of the others do not, beyond what rows before the cut varied by. Seconds of a row are looked at as well: what more
rows explain is load. No key group has to move for it. One that was slow in all rows cannot be told from heavy load.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray
from streamjob_planners.capacity.cut import LEAST_BEFORE, Cut
from streamjob_planners.capacity.own_rows import OwnRows
from streamjob_planners.capacity.pace import LEAST_FACTOR

LEAST_AFTER = 2
"""Rows after a cut at least: one may be a pause."""
AT_ONCE_FACTOR, AT_ONCE_BEFORE = 2.0, 8
"""One row is enough of an executor that takes as many times as long, nothing like which was seen in as many rows."""
MOST_GROUPS = 512
"""The heaviest key groups are looked at."""
SURE, SURE_KNOWN = 4.5, 3.0
"""Standard errors that a step must be away from 0, were the noise known; of an executor that is known to be slow, that
it recovers is to be expected. What few rows say of the noise asks for more, by Student's distribution."""
NOTICED = 3.0
"""The same from which it is waited for more rows before what they say is taken for load."""
HELD = 6
"""Rows for which that is waited at most."""
FEWEST_GROUPS = 2
"""Key groups that must agree; of an executor that is known to be slow one is enough."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class GroupRows:
    """Batches one by one, oldest first, (n_rows, n_groups) but for `batches`.

    Attributes:
        seconds: of each key group's task, >= 0, on an executor as fast as it was known to be.
        records: that the task read, >= 0.
        executor: index of the one that ran it, -1 where nobody knows.
        batches: that each row is the mean of, 1 or more, (n_rows,).
    """

    seconds: FloatArray
    records: FloatArray
    executor: IntArray
    batches: IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """An executor's tasks take longer by exp(`slower`) from a row on; negative where they take less.

    `error` is the standard error of `slower`.
    """

    executor: int
    row: int
    slower: float
    error: float


def turns(rows: GroupRows, known: BoolArray, at_once: IntArray) -> list[Turn]:
    """Every executor that turned, at most once each; `known`, (n_executors,), are those planned for as unequal.

    `at_once`, (n_executors,): key groups that must show it for a single row to be enough, more than a pause reaches; 0
    where two rows are waited for.
    """
    return _turned(_Cuts(_comparable(rows), known.size), known, at_once)


def turns_and_doubt(rows: GroupRows, known: BoolArray, at_once: IntArray) -> tuple[list[Turn], Turn | None]:
    """`turns`, and an executor that may have turned within the newest rows, HELD at most, sure or not.

    Both look at the same cuts, which are most of the work.
    """
    cuts = _Cuts(_comparable(rows), known.size)
    return _turned(cuts, known, at_once), _suspected(cuts, known)


def since(rows: GroupRows, executor: int, row: int) -> Turn | None:
    """By how much an executor turned at a row that is known, seen by all rows; None where too few are on a side."""
    held = _comparable(rows)
    if row < LEAST_BEFORE or len(held.executor) - row < LEAST_AFTER or not held.executor.size:
        return None
    n_executors = int(held.executor.max()) + 1
    cuts, after = _Cuts(held, n_executors), len(held.executor) - row
    return _told(cuts.both(after), executor) if executor in cuts.by_batch(after).compared else None


def _surest(found: Iterable[Turn]) -> Turn | None:
    return max(found, key=lambda one: abs(one.slower) / one.error, default=None)


def _without(rows: GroupRows, turn: Turn) -> GroupRows:
    mine = (rows.executor == turn.executor) & (np.arange(len(rows.executor)) >= turn.row)[:, None]
    return dataclasses.replace(rows, seconds=np.where(mine, rows.seconds * math.exp(-turn.slower), rows.seconds))


def _comparable(rows: GroupRows) -> GroupRows:
    """The heaviest key groups that every row tells of."""
    told = np.flatnonzero(((rows.seconds > 0) & (rows.executor >= 0)).all(axis=0))
    heavy = told[np.argsort(-rows.seconds[:, told].sum(axis=0), kind="stable")[:MOST_GROUPS]]
    return GroupRows(
        seconds=rows.seconds[:, heavy],
        records=rows.records[:, heavy],
        executor=rows.executor[:, heavy],
        batches=rows.batches,
    )


class _Cuts:
    """Rows that can be compared, cut in two with so many rows after the cut: each cut is worked out once."""

    def __init__(self, rows: GroupRows, n_executors: int) -> None:
        self.rows = rows
        self._ran = OwnRows(rows.executor, n_executors)
        self._logs = np.log(rows.seconds)
        self._known: dict[int, Cut] = {}

    def by_batch(self, after: int) -> Cut:
        if after not in self._known:
            self._known[after] = Cut(self._logs, self.rows.batches, self._ran, after)
        return self._known[after]

    def both(self, after: int) -> tuple[Cut, Cut]:
        """The cut by batches, and by seconds of a record; the first twice where a task read none."""
        by_batch = self.by_batch(after)
        if not self._by_record.size:
            return by_batch, by_batch
        return by_batch, Cut(self._by_record, self.rows.batches, self._ran, after)

    @functools.cached_property
    def _by_record(self) -> FloatArray:
        """Logarithms of the seconds of a record, (n_rows, n_groups); empty where some task read none."""
        read = (self.rows.records > 0).all()
        return np.log(self.rows.seconds / self.rows.records) if read else np.empty((0, 0))


def _turned(cuts: _Cuts, known: BoolArray, at_once: IntArray) -> list[Turn]:
    found: list[Turn] = []
    while cuts.rows.executor.size and len(found) < known.size:
        sure = np.where(known, SURE_KNOWN, SURE)
        turn = _at_once(cuts, at_once) or _surest(_turns(cuts, sure, known, _afters(len(cuts.rows.executor))))
        if turn is None or any(one.executor == turn.executor for one in found):
            break
        found.append(turn)
        cuts = _Cuts(_without(cuts.rows, turn), known.size)
    return found


def _suspected(cuts: _Cuts, known: BoolArray) -> Turn | None:
    if not cuts.rows.executor.size:
        return None
    return _surest(_turns(cuts, np.full(known.size, NOTICED), known, range(1, HELD + 1)))


def _turns(cuts: _Cuts, sure: FloatArray, known: BoolArray, afters: Iterable[int]) -> Iterator[Turn]:
    """Turns that are (n_executors,) standard errors away from none, at cuts with so many rows after them."""
    groups = np.where(known, 1, FEWEST_GROUPS)
    for after in afters:
        if len(cuts.rows.executor) - after < LEAST_BEFORE:
            break
        yield from _at_cut(cuts, after, _far, sure, groups)


def _at_once(cuts: _Cuts, groups: IntArray) -> Turn | None:
    """An executor that the newest row alone is enough for."""
    if len(cuts.rows.executor) <= AT_ONCE_BEFORE or not groups.any():
        return None
    return _surest(_at_cut(cuts, 1, _far_at_once, np.full(groups.size, SURE), groups))


def _at_cut(
    cuts: _Cuts, after: int, far: Callable[[Cut, int], bool], sure: FloatArray, groups: IntArray
) -> Iterator[Turn]:
    """Turns of executors that are `far` off by batches; of each as many `groups` must agree, 0 leaves it out."""
    by_batch = cuts.by_batch(after)
    those = [one for one in by_batch.compared if groups[one] and far(by_batch, one)]
    if not those:
        return
    both = cuts.both(after)
    for executor in those:
        turn = _turn(both, executor, sure[executor], int(groups[executor]))
        if turn is not None:
            yield turn


def _far(cut: Cut, executor: int) -> bool:
    """Whether it is slower, or faster, by what counts at all."""
    return abs(cut.step(executor)) >= math.log(LEAST_FACTOR)


def _far_at_once(cut: Cut, executor: int) -> bool:
    """Whether it is so much slower that one row may be enough."""
    return cut.unlike(executor, math.log(AT_ONCE_FACTOR))


def _afters(n_rows: int) -> Iterator[int]:
    """Rows after each cut that is tried: nearly all of the newest, fewer of the older ones."""
    after = LEAST_AFTER
    while after < n_rows:
        yield after
        after += max(1, after // 2)


def _turn(both: tuple[Cut, Cut], executor: int, sure: float, groups: int) -> Turn | None:
    """None where chance, or rows, explain what this executor's tasks took."""
    found = _told(both, executor)
    better = min(both, key=lambda one: one.error(executor))
    if abs(found.slower) < math.log(LEAST_FACTOR) or abs(better.step(executor)) < better.sure(sure) * found.error:
        return None
    return found if better.agreed(executor, groups) else None


def _told(both: tuple[Cut, Cut], executor: int) -> Turn:
    """What seconds of batches and those of records both say."""
    steps = [one.step(executor) for one in both]
    slower = min(steps, key=abs) if steps[0] * steps[1] > 0 else 0.0
    error = min(one.error(executor) for one in both)
    return Turn(executor=executor, row=both[0].row, slower=slower, error=error)
