"""Where each second of the slowest batch went, as far as the series of batches tells."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

import numpy as np

from streamjob_operator.series import BatchSeries, StageRows
from streamjob_operator.values import CycleRecord, Snapshot
from streamjob_planners.model import BoolArray

PLANNING, COMMITS = ("latestOffset", "getBatch", "queryPlanning"), ("walCommit", "commitOffsets")
"""Parts of Spark's progress before and after a batch's own work; `addBatch` is all of that work."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StagePart:
    """One stage of a batch, seconds.

    Attributes:
        operator: whose key groups are its tasks; None for a stage without key groups.
        wall_s: from its submission to its end.
        work_s: tasks of key groups by executor, over its slots, without what starts and loading cost; empty where
            nobody knows who owned them.
        extra_s: what starting tasks and loading moved state cost, of all its tasks together.
        wait_s: what its tasks waited for a slot, all together.
    """

    operator: int | None
    wall_s: float
    work_s: tuple[tuple[str, float], ...]
    extra_s: float
    wait_s: float

    @property
    def binding(self) -> tuple[str, float] | None:
        """The executor that the stage waited for, and its seconds."""
        return max(self.work_s, key=lambda one: one[1], default=None)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SlowBatch:
    """The slowest batch. `planning_s`, `stages`, `commits_s` and `rest_s` add up to `measured_s`.

    `predicted_s` is None where it was not predicted; `moved` key groups ran on another executor than before, and
    `executors_changed` came or went. `rest_s` is the driver's: launching tasks, running the sink.
    """

    ended_at_s: float
    measured_s: float
    predicted_s: float | None
    moved: int
    executors_changed: int
    planning_s: float
    stages: tuple[StagePart, ...]
    commits_s: float
    rest_s: float


class Slowest:
    """Keeps, of cycles that it sees one after another, those that tell of the slowest batch so far."""

    def __init__(self) -> None:
        self._found: tuple[float, float] | None = None
        self._telling: list[CycleRecord] = []

    def see(self, record: CycleRecord) -> None:
        """One more cycle, later than those before."""
        found = max(_rows(record), key=lambda one: one[0], default=None)
        if found is not None and (self._found is None or found[0] > self._found[0]):
            self._found, self._telling = found, []
        if self._found is not None and _tells(record, self._found[1]):
            self._telling.append(record)

    def batch(self) -> SlowBatch | None:
        """Of all batches that a row of a series tells alone; None without one that tells its parts."""
        if self._found is None:
            return None
        measured_s, ended_at_s = self._found
        seen = list(_readings(self._telling, ended_at_s))
        snapshot, row = next(((one, at) for one, at in seen if _stays(one, at)), seen[0])
        return _batch(snapshot, row, measured_s, _predicted_s(self._telling, ended_at_s))


def _rows(record: CycleRecord) -> Iterator[tuple[float, float]]:
    """Seconds and end of every batch."""
    series = None if record.snapshot is None else record.snapshot.series
    if series is not None and "addBatch" in series.parts_s:
        alone = series.batches == 1
        yield from zip(series.batch_s[alone].tolist(), series.ended_at_s[alone].tolist(), strict=True)


def _tells(record: CycleRecord, ended_at_s: float) -> bool:
    """Whether the batch is among those that the cycle measured or predicted."""
    series = None if record.snapshot is None else record.snapshot.series
    return any(
        told is not None and bool(np.any(told.ended_at_s == ended_at_s)) for told in (series, record.batch_times)
    )


def _readings(cycles: Sequence[CycleRecord], ended_at_s: float) -> Iterator[tuple[Snapshot, int]]:
    """Snapshots that know the batch, and its row in each."""
    for snapshot in (one.snapshot for one in cycles):
        if snapshot is not None and snapshot.series is not None:
            for row in np.flatnonzero(snapshot.series.ended_at_s == ended_at_s).tolist():
                yield snapshot, row


def _stays(snapshot: Snapshot, row: int) -> bool:
    """Whether every key group is still where it was in that batch."""
    series = snapshot.series
    live = {one.executor_id for one in snapshot.executors}
    return series is not None and not series.moved[row + 1 :].any() and set(snapshot.owners) <= live


def _predicted_s(cycles: Sequence[CycleRecord], ended_at_s: float) -> float | None:
    for times in (one.batch_times for one in cycles if one.batch_times is not None):
        for row in np.flatnonzero(times.ended_at_s == ended_at_s).tolist():
            return float(times.predicted_s[row])
    return None


def _batch(snapshot: Snapshot, row: int, measured_s: float, predicted_s: float | None) -> SlowBatch | None:
    series = snapshot.series
    if series is None:
        return None
    stages = tuple(_stage(snapshot, series, rows, row) for rows in _in_order(snapshot, series))
    planning_s, commits_s = (_parts_s(series, row, names) for names in (PLANNING, COMMITS))
    return SlowBatch(
        ended_at_s=float(series.ended_at_s[row]),
        measured_s=measured_s,
        predicted_s=predicted_s,
        moved=int(series.moved[row]),
        executors_changed=int(series.executors_changed[row]),
        planning_s=planning_s,
        stages=stages,
        commits_s=commits_s,
        rest_s=max(0.0, measured_s - planning_s - commits_s - sum(one.wall_s for one in stages)),
    )


def _in_order(snapshot: Snapshot, series: BatchSeries) -> list[StageRows]:
    """Stages in the order in which they run; those without key groups first, where nobody tells."""
    level = {one.operator: one.level for one in snapshot.stages}
    return sorted(series.stages.values(), key=lambda one: (level.get(one.operator, 0), one.operator or 0))


def _stage(snapshot: Snapshot, series: BatchSeries, rows: StageRows, row: int) -> StagePart:
    own = np.array([one.operator == rows.operator for one in snapshot.group_ids], dtype=np.bool_)
    busy_s = float(series.busy_s[row][own].sum())
    return StagePart(
        operator=rows.operator,
        wall_s=float(rows.wall_s[row]),
        work_s=tuple(_work_s(snapshot, series, own, row)) if own.any() and _stays(snapshot, row) else (),
        extra_s=max(0.0, float(rows.busy_s[row]) - busy_s) if own.any() else 0.0,
        wait_s=float(rows.wait_s[row]),
    )


def _work_s(snapshot: Snapshot, series: BatchSeries, own: BoolArray, row: int) -> Iterator[tuple[str, float]]:
    owners = np.array([one or "" for one in snapshot.owners])
    for executor in snapshot.executors:
        mine = own & (owners == executor.executor_id)
        if mine.any():
            yield executor.executor_id, float(series.busy_s[row][mine].sum()) / executor.cores


def _parts_s(series: BatchSeries, row: int, names: Sequence[str]) -> float:
    return sum(float(series.parts_s[name][row]) for name in names if name in series.parts_s)
