"""What if: the question, and the batch model's answer. Pure."""

from __future__ import annotations

import dataclasses

from streamjob_operator.asking.measured import Measured
from streamjob_operator.asking.predictions import Prediction, limit_words, predicted
from streamjob_planners.advice import more_groups
from streamjob_planners.batch.rate import fewest_executors, largest_rate

HEADROOM = 0.9
"""Part of the trigger interval that a batch should take at most, where no objective is given."""
MOST_EXECUTORS = 10_000
COURSE_S = (300.0, 900.0, 3600.0)
"""Times from now at which the backlog is told."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Rate:
    """A rate as a person gives it: `factor` times today's, or `rows` per second; exactly one is there."""

    factor: float | None = None
    rows: float | None = None

    def of(self, today_rps: float) -> float:
        """Rows per second."""
        return self.rows if self.rows is not None else today_rps * (self.factor or 0.0)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """What is asked. `executors` None: as many as there are; `objective_s` None: HEADROOM of the trigger interval."""

    rate: Rate = Rate(factor=1.0)
    executors: int | None = None
    most: int | None = None
    objective_s: float | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Backlog:
    """Rows that wait, from now on, with one number of executors.

    Attributes:
        executors: that number.
        rows: now; None where no source tells.
        grows_rps: rows per second by which it grows; below 0 it is worked off, at 0 only the fixed part of batches adds
            to it, and None where there is no telling, as rows take no time.
        gone_s: time until nothing waits; None where that is never, or nobody knows.
        course: (seconds from now, rows).
    """

    executors: int
    rows: float | None
    grows_rps: float | None
    gone_s: float | None
    course: tuple[tuple[float, float], ...]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """All of it. `needed` is None where no number within the bound does, and `why_not` then says why."""

    today_rps: float
    rate_rps: float
    executors: int
    slots: int
    trigger_s: float | None
    batch_s: float
    objective_s: float | None
    most: int
    needed: int | None
    why_not: str | None
    predictions: tuple[Prediction, ...]
    backlog: Backlog


def answer(measured: Measured, question: Question) -> Answer:
    """Predictions for the numbers that matter: today's, the one asked for, the one needed, and their neighbours."""
    rate_rps = question.rate.of(measured.rate_rps)
    most = MOST_EXECUTORS if question.most is None else question.most
    objective_s = question.objective_s
    if objective_s is None and measured.trigger_s is not None:
        objective_s = HEADROOM * measured.trigger_s
    trigger_s = measured.trigger_s or 0.0
    needed = fewest_executors(
        measured.work, rate_rps, measured.slots, most=most, objective_s=objective_s, trigger_s=trigger_s
    )
    asked = measured.executors if question.executors is None else question.executors
    return Answer(
        today_rps=measured.rate_rps,
        rate_rps=rate_rps,
        executors=measured.executors,
        slots=measured.slots,
        trigger_s=measured.trigger_s,
        batch_s=measured.batch_s,
        objective_s=objective_s,
        most=most,
        needed=needed,
        why_not=_why_not(measured, rate_rps, most, objective_s) if needed is None else None,
        predictions=tuple(predicted(measured, one, rate_rps) for one in shown(measured, asked, needed, question.most)),
        backlog=backlog(measured, asked, rate_rps),
    )


def shown(measured: Measured, asked: int, needed: int | None, most: int | None) -> list[int]:
    """Numbers of executors that a table shows, ascending."""
    around = [one + step for one in (measured.executors, needed or asked) for step in (-1, 0, 1)]
    every = {asked, *around, *(() if most is None else (most,))}
    return sorted(one for one in every if 1 <= one <= MOST_EXECUTORS)


def backlog(measured: Measured, executors: int, rate_rps: float) -> Backlog:
    """How rows that wait get fewer or more."""
    most_rps, rows = largest_rate(measured.work, executors, measured.slots).rate_rps, measured.lag_rows
    grows_rps = None if most_rps is None else rate_rps - most_rps
    now = rows or 0.0
    return Backlog(
        executors=executors,
        rows=rows,
        grows_rps=grows_rps,
        gone_s=_gone_s(rows, grows_rps),
        course=()
        if grows_rps is None or (rows is None and grows_rps <= 0)
        else tuple((at_s, max(0.0, now + grows_rps * at_s)) for at_s in COURSE_S),
    )


def _gone_s(rows: float | None, grows_rps: float | None) -> float | None:
    if rows is None:
        return None
    if rows == 0 and (grows_rps is None or grows_rps < 0):
        return 0.0
    return None if grows_rps is None or grows_rps >= 0 else rows / -grows_rps


def _why_not(measured: Measured, rate_rps: float, most: int, objective_s: float | None) -> str:
    found = largest_rate(measured.work, most, measured.slots, objective_s=objective_s)
    short = found.times_short_of(rate_rps)
    return limit_words(found.limit, most) + more_groups.remedy(found.limit, measured.group_ids, found.group, short)
