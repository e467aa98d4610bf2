"""A trace from the history of `streamjob run`."""

from __future__ import annotations

import itertools
import statistics
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TypeVar

import numpy as np

from streamjob_operator.asking.measured import Measured, of_record
from streamjob_operator.history import HistoryError, cycles_of, newest_first, notes_of
from streamjob_operator.recording.columns import Columns, Reading, columns
from streamjob_operator.recording.trace import MOST_POINTS, Batches, Stage, Trace
from streamjob_operator.recording.trace_file import TraceError, as_a_trace
from streamjob_operator.steps.batching import live
from streamjob_operator.values import CycleRecord, Snapshot

LEAST_STEP_S = 1.0
SHARE_DIGITS = 6
Value = TypeVar("Value", int, float)


def trace_of_history(path: Path, step_s: float | None, job: str | None = None) -> Trace:
    """The trace of all cycles that measured something. Raises TraceError.

    A step is their usual distance by default, `job` the history's own name.
    """
    try:
        readings, told = _readings(cycles_of(path)), notes_of(path).job
    except HistoryError as error:
        raise TraceError((f"{error}.",)) from error
    if len(readings) < 2:
        raise TraceError((f"{path}: {len(readings)} cycles measured something; a trace needs two at least.",))
    newest, step_s = _newest(path), step_s or _usual_step_s(readings)
    steps = (readings[-1].at_s - readings[0].at_s) / step_s
    if steps > MOST_POINTS:
        raise TraceError((f"{steps:,.0f} steps of {step_s:g} s asked for; {MOST_POINTS:,} at most are possible.",))
    found = columns(readings, step_s)
    with as_a_trace():
        return made(job or str(told.get("name", path.stem)), found, batches_of(newest))


def made(job: str, found: Columns, batches: Batches) -> Trace:
    """The trace of these columns; those that nobody knows anything of are left out. Raises TraceError.

    It begins with the first step of which the rate is known.
    """
    first = next((at for at, one in enumerate(found.rate) if one is not None), None)
    if first is None:
        raise TraceError(("No rate was measured at any time.",))
    return Trace(
        kind="trace",
        version=1,
        job=job,
        start=found.start_s + first * found.step_s,
        step_seconds=found.step_s,
        rate=found.rate[first:],
        lag=_known(found.lag[first:]),
        executors=_known(found.executors[first:]),
        batch_seconds=_known(found.batch_s[first:]),
        batches=batches,
    )


def _known(column: tuple[Value | None, ...]) -> tuple[Value | None, ...] | None:
    """The column, None where nothing of it is known."""
    return column if any(one is not None for one in column) else None


def batches_of(measured: Measured) -> Batches:
    """What a batch is made of, in a trace's words: key groups of one level are one stage."""
    work = measured.work
    free = tuple(Stage(level=one.level, fixed_seconds=one.fixed_s, row_seconds=one.row_s) for one in work.free)
    return Batches(
        trigger_seconds=measured.trigger_s,
        fixed_seconds=work.fixed_s,
        slots=measured.slots,
        stages=(*free, *(_stage(measured, level) for level in sorted(set(work.level.tolist())))),
    )


def _stage(measured: Measured, level: int) -> Stage:
    work = measured.work
    here = work.level == level
    row_s, fixed_s = work.task_row_s[here], work.task_fixed_s[here]
    each_s = row_s * measured.rows + fixed_s
    total_s = float(each_s.sum())
    shares = np.round(each_s / total_s, SHARE_DIGITS).tolist() if total_s > 0 else None
    return Stage(
        level=level,
        tasks=int(here.sum()),
        fixed_seconds=float(fixed_s.sum()),
        row_seconds=float(row_s.sum()),
        shares=None if shares is None else tuple(shares),
    )


def _readings(cycles: Iterable[CycleRecord]) -> list[Reading]:
    """One for each new measurement, in the order of time."""
    readings: list[Reading] = []
    for snapshot in (one.snapshot for one in cycles):
        if snapshot is None or (readings and snapshot.taken_at_s <= readings[-1].at_s):
            continue
        readings.append(_reading(snapshot))
    return readings


def _reading(snapshot: Snapshot) -> Reading:
    rates = snapshot.rates
    return Reading(
        at_s=snapshot.taken_at_s,
        window_s=snapshot.window_s,
        taken_rps=rates.input_rps,
        lag_rows=rates.lag_rows,
        executors=len(live(snapshot)),
        batch_s=rates.mean_batch_s if rates.batches else None,
    )


def _usual_step_s(readings: Sequence[Reading]) -> float:
    gaps = [after.at_s - before.at_s for before, after in itertools.pairwise(readings)]
    return max(LEAST_STEP_S, round(statistics.median(gaps), 3))


def _newest(path: Path) -> Measured:
    """The newest cycle whose batches can be predicted."""
    why = ""
    for record in newest_first(path):
        try:
            return of_record(record)
        except ValueError as error:  # Unanswerable is one
            why = why or str(error)
    raise TraceError((f"{path}: nothing is known of what batches are made of: {why}.",))
