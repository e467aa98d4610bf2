"""The fewest executors whose batches are in time, seldom late, and work the backlog off."""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

from streamjob_planners.sizing.course import Outlook, course
from streamjob_planners.sizing.lateness import Duration
from streamjob_planners.sizing.pace import Pace, Paces

KEEPS_UP = 0.95
"""Part of the time that batches without an objective may spend on their rows: above it they grow long."""
SPREADS, MOST_GUESSED = 2.0, 1e6
"""Standard deviations of a batch that a guess leaves for late ones, and executors that it does not exceed."""
WORTH = 0.2
"""Part of a batch that twice the executors must save to be worth asking for where no number is enough."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """What is wanted of batches.

    Attributes:
        batch_s: what a batch may take; None where it only has to keep up.
        late_ratio: part of the batches that may take longer, above 0, below 1.
        gone_within_s: seconds from now within which the backlog shall be gone.
        busy_ratio: part of the time that rows may take of endless batches, where `batch_s` is None.
    """

    batch_s: float | None
    late_ratio: float
    gone_within_s: float
    busy_ratio: float = KEEPS_UP


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One number of executors held against the aim: why it is not enough, None where it is.

    Attributes:
        batch: the batch that holds what arrives; None where batches would grow without end.
        late_ratio: part of the batches that take longer than they may, 0 to 1.
        gone_s: when the backlog is gone, and what gathers until other executors are there, seconds from now; None where
            there is none, or it stays.
    """

    pace: Pace
    batch: Duration | None
    late_ratio: float
    gone_s: float | None
    in_time: bool
    clears: bool

    @property
    def enough(self) -> bool:
        """Whether these executors do."""
        return self.in_time and self.clears


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Fewest:
    """The answer: the executors, what they were judged by, and whether they reach the aim.

    Where `reached` is False, not even the most executors do; the number is then the least that keeps up and beyond
    which batches get hardly any shorter.
    """

    judged: Judged
    reached: bool

    @property
    def executors(self) -> int:
        """How many."""
        return self.judged.pace.executors


def judge(executors: int, paces: Paces, today: Pace, outlook: Outlook, aim: Aim) -> Judged:
    """So many executors from `outlook.ready_s` on, today's until then."""
    found = paces(executors)
    rows = found.settled_rows(outlook.rate_rps, outlook.trigger_s)
    if outlook.most_rows is not None:
        rows = outlook.most_rows if rows is None else min(rows, outlook.most_rows)
    batch = None if rows is None else found.batch(rows)
    late = 1.0 if batch is None else _late(found, batch, outlook, aim)
    in_time = late <= aim.late_ratio if aim.batch_s is not None else late < 0.5
    if not in_time or (outlook.backlog_rows <= 0.0 and not _gathers(outlook, today)):
        return Judged(pace=found, batch=batch, late_ratio=late, gone_s=None, in_time=in_time, clears=True)
    least = max(outlook.backlog_rows, outlook.rate_rps * outlook.trigger_s)  # a batch in time begins with that, too
    begun = dataclasses.replace(outlook, backlog_rows=least)
    gone_s = course(begun, today, found, aim.gone_within_s).gone_s
    clears = _capped(outlook, found) or (gone_s is not None and gone_s <= aim.gone_within_s)
    return Judged(pace=found, batch=batch, late_ratio=late, gone_s=gone_s, in_time=in_time, clears=clears)


def fewest(paces: Paces, most: int, today: Pace, outlook: Outlook, aim: Aim) -> Fewest:
    """The fewest of 1 to `most` that are enough; more executors never make batches longer.

    Raises ValueError for `most` below 1.
    """
    if most < 1:
        raise ValueError(f"most: {most} given, 1 or more is needed")

    @functools.cache
    def at(executors: int) -> Judged:
        return judge(executors, paces, today, outlook, aim)

    near = min(max(_guessed(today, outlook, aim), 1), most)
    if at(near).enough or at(most).enough:
        return Fewest(judged=at(smallest(lambda n: at(n).enough, most, near)), reached=True)
    if at(most).in_time:  # only the backlog asks for more than there may be
        return Fewest(judged=at(most), reached=False)
    return Fewest(judged=at(_worth_having(paces, most, outlook, aim)), reached=False)


def smallest(holds: Callable[[int], bool], most: int, near: int = 1) -> int:
    """The smallest of 1 to `most` for which it holds, where it holds for all above that, and for `most`.

    Looked for from `near`, 1 to `most`, on, in steps twice as wide each time, then between the last two.
    """
    low, high, step = 0, most, 1
    if holds(near):
        high = near
        while high - step > 0 and holds(high - step):
            high, step = high - step, 2 * step
        low = max(0, high - step)
    else:
        low = near
        while low + step < most and not holds(low + step):
            low, step = low + step, 2 * step
        high = min(low + step, most)
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high


def _guessed(today: Pace, outlook: Outlook, aim: Aim) -> int:
    """Where to look first, since judging a number takes most of a millisecond: rows take as much less on more
    executors, and the rest of a batch what it takes today."""
    rows_s = outlook.rate_rps * today.row_s  # for each second in which rows arrive
    if aim.batch_s is None:
        return math.ceil(today.executors * rows_s / aim.busy_ratio)
    left_s = aim.batch_s / (1.0 + SPREADS * today.spread_ratio) - today.fixed_s
    if left_s <= 0.0:
        return today.executors
    return math.ceil(min(today.executors * rows_s * max(outlook.trigger_s, aim.batch_s) / left_s, MOST_GUESSED))


def _gathers(outlook: Outlook, today: Pace) -> bool:
    """Whether rows gather on today's executors until others are there."""
    rows = today.settled_rows(outlook.rate_rps, outlook.trigger_s)
    return rows is None or rows > outlook.rate_rps * outlook.trigger_s > 0.0


def _worth_having(paces: Paces, most: int, outlook: Outlook, aim: Aim) -> int:
    """The fewest that keep up at all, where some do, and of which twice as many would hardly make batches shorter."""
    rows = outlook.rate_rps * max(outlook.trigger_s, aim.batch_s or 0.0)

    def grows(executors: int) -> bool:
        return outlook.rate_rps * paces(executors).row_s > KEEPS_UP

    keeps_up = 1 if grows(most) or outlook.most_rows is not None else smallest(lambda n: not grows(n), most)
    settles = rows <= 0.0 and not grows(most)

    def long(executors: int) -> float:
        found = paces(executors)
        if settles:
            return _settled_s(found, outlook.rate_rps)
        return found.batch_s(rows) if rows > 0.0 else found.row_s  # batches without end: rows take all of it

    def flat(executors: int) -> bool:
        more = min(2 * executors, most) if settles else 2 * executors
        return math.isfinite(long(executors)) and long(more) >= (1.0 - WORTH) * long(executors)

    return max(keeps_up, smallest(flat, most))


def _settled_s(pace: Pace, rate_rps: float) -> float:
    """Seconds of batches that follow each other at once: longer by far where rows take nearly all of the time."""
    rows = pace.settled_rows(rate_rps, 0.0)
    return math.inf if rows is None else pace.batch_s(rows)


def _late(pace: Pace, batch: Duration, outlook: Outlook, aim: Aim) -> float:
    """Part of the batches above the objective; without one, whether rows take more of the time than they may."""
    if aim.batch_s is not None:
        return batch.late_ratio(aim.batch_s)
    return float(outlook.rate_rps * pace.row_s > aim.busy_ratio and not math.isinf(pace.most_rps))


def _capped(outlook: Outlook, pace: Pace) -> bool:
    """Whether the source's own cap, not the executors, decides how fast a backlog goes: batches of all that it hands
    out end within their trigger."""
    return outlook.most_rows is not None and pace.batch_s(outlook.most_rows) <= outlook.trigger_s
