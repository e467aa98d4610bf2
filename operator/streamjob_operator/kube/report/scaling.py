"""The arithmetic of a scaling decision as a section of the status, and back. Pure."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from streamjob_operator.asking.decision import decided
from streamjob_operator.asking.measured import Measured, Unanswerable
from streamjob_operator.kube.models.scaling import MOST_SHARES, MOST_STAGES, ScalingStatus, StageWork
from streamjob_operator.values import CycleRecord
from streamjob_planners.batch.work import FreeWork, Work
from streamjob_planners.model import FloatArray, GroupId

NOTHING = 1e-6
"""Part of a mean task that rounding makes."""
DIGITS = 5
"""That are kept of each figure: nobody knows more, and a status is small."""


def scaling_of(record: CycleRecord) -> ScalingStatus | None:
    """What the cycle rested on; None where its batches cannot be predicted."""
    try:
        found = decided(record, "", None, None)
    except (Unanswerable, ValueError):
        return None
    measured, stages = found.measured, tuple(stages_of(found.measured))
    return ScalingStatus(
        at=round(measured.at_s, 3),
        rate=_short(measured.rate_rps),
        rows=_short(measured.rows),
        batch_seconds=_short(measured.batch_s),
        fixed_seconds=_short(measured.work.fixed_s),
        trigger_seconds=measured.trigger_s,
        lag=None if measured.lag_rows is None else _short(measured.lag_rows),
        executors=measured.executors,
        slots=measured.slots,
        stages=stages if len(stages) <= MOST_STAGES else (),
        needed=found.needed,
        target=found.target,
        reason=found.reason,
        message=found.message,
    )


def measured_of(status: ScalingStatus) -> Measured:
    """What a status tells; raises Unanswerable where its stages were too many to keep, or are not as we keep them."""
    try:
        return _measured_of(status)
    except (IndexError, ValueError) as error:  # Unanswerable is one
        if isinstance(error, Unanswerable):
            raise
        raise Unanswerable("what its status keeps of its batches is not as this version keeps it") from error


def _measured_of(status: ScalingStatus) -> Measured:
    if min(status.executors, status.slots) < 1 or status.rows <= 0 or status.rate < 0:
        raise ValueError("executors, slots, rows, rate: above 0 is needed")
    own = [one for one in status.stages if one.tasks is not None]
    if not own:
        raise Unanswerable("its batches have more stages than the status keeps")
    counts = [one.tasks or 0 for one in own]
    fixed_s, row_s = zip(*(_seconds(one, status.rows) for one in own), strict=True)
    work = Work(
        level=np.repeat([one.level for one in own], counts).astype(np.int64),
        task_fixed_s=np.concatenate(fixed_s),
        task_row_s=np.concatenate(row_s),
        spread_ratio=np.zeros(sum(counts)),
        fixed_s=status.fixed_seconds,
        free=tuple(
            FreeWork(fixed_s=one.fixed_seconds, row_s=one.row_seconds, level=one.level)
            for one in status.stages
            if one.tasks is None
        ),
    )
    groups = (GroupId(operator=at, partition=part) for at, count in enumerate(counts) for part in range(count))
    if not all(one.size == work.level.size for one in (work.task_fixed_s, work.task_row_s)):
        raise ValueError("shares: one for each task is needed")
    return Measured(
        work=work,
        group_ids=tuple(groups),
        at_s=status.at,
        rate_rps=status.rate,
        rows=status.rows,
        batch_s=status.batch_seconds,
        executors=status.executors,
        slots=status.slots,
        trigger_s=status.trigger_seconds,
        lag_rows=status.lag,
    )


def stages_of(measured: Measured) -> Iterator[StageWork]:
    """The work of a batch, stages without key groups first, then level by level."""
    work = measured.work
    for free in work.free:
        yield StageWork(level=free.level, fixed_seconds=_short(free.fixed_s), row_seconds=_short(free.row_s))
    for level in sorted(set(work.level.tolist())):
        here = work.level == level
        each_s = work.task_row_s[here] * measured.rows + work.task_fixed_s[here]
        share = each_s / max(float(each_s.sum()), 1e-300)
        yield StageWork(
            level=level,
            tasks=share.size,
            fixed_seconds=_short(float(work.task_fixed_s[here].sum())),
            task_seconds=_alike_s(each_s, work.task_fixed_s[here]),
            row_seconds=_short(float(work.task_row_s[here].sum())),
            largest=_short(float(share.max())),
            shares=tuple(_short(one) for one in share.tolist()) if share.size <= MOST_SHARES else None,
        )


def _alike_s(each_s: FloatArray, fixed_s: FloatArray) -> float | None:
    """Where the line of fixed seconds over all seconds of tasks begins; None where it begins at nothing."""
    size, fixed = each_s - each_s.mean(), fixed_s - fixed_s.mean()
    squares = float(size @ size)
    slope = float(size @ fixed) / squares if squares > 0 else np.inf
    alike_s = min(float(fixed_s.mean() - slope * each_s.mean()), float(fixed_s.mean()))
    return _short(alike_s) if alike_s > NOTHING * float(each_s.mean()) else None


def _seconds(stage: StageWork, rows: float) -> tuple[FloatArray, FloatArray]:
    """Of each task without a row, and for each row of the batch, (n_tasks,)."""
    share, alike_s = _shares(stage), stage.task_seconds or 0.0
    each_s = share * (stage.fixed_seconds + stage.row_seconds * rows)
    fixed_s = np.minimum(each_s, alike_s + share * max(0.0, stage.fixed_seconds - share.size * alike_s))
    return fixed_s, (each_s - fixed_s) / rows


def _shares(stage: StageWork) -> FloatArray:
    """As they were kept; without them, the heaviest one as it is and all others alike."""
    count = stage.tasks or 1
    if stage.shares is not None:
        return np.array(stage.shares)
    largest = max(stage.largest or 0.0, 1.0 / count)
    rest = np.full(count, (1.0 - largest) / max(count - 1, 1))
    rest[0] = largest
    return rest


def _short(value: float) -> float:
    return float(f"{value:.{DIGITS}g}")
