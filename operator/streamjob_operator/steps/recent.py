"""Loads do not cross a change: once work is shared anew, or there is more or less of it, older batches are none."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_operator.values import Memory, Snapshot, StageView
from streamjob_planners.batch.change import shown_alone
from streamjob_planners.batch.level import level_changes
from streamjob_planners.model import BoolArray, FloatArray

MOST_CHANGES = 2
"""More changes than this within a series are a load that swings: its mean is what to plan for, not its newest turn."""
SAME_ROWS = 3
"""Rows between two cuts up to which they are one change: with more rows after it, a cut may be found a row off."""
FALL_LASTS = 0.5
"""Part of the window that a fall must have lasted: batches with few rows may be those of a source that waits."""
STIRRED_ROWS = 2
"""Rows after one in which executors came or went, or key groups moved: a step that begins in these came of that. What
waited meanwhile is worked off by larger batches, and new executors take in more of a backlog; no more arrives."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recent:
    """What was measured since the newest changes within the window, and when these were; None where none is seen.

    Attributes:
        snapshot: busy seconds, rates, the window's length and its batches speak of the part since then.
        changed_at_s: since when key groups share the work as they do now.
        level_changed_at_s: since when there is as much work for all as there is now.
        alike: first row of the series from which on key groups share the work as they do now.
        shown_alone: its first batch by itself shows the change of shares, as no executor's speed could.
    """

    snapshot: Snapshot
    changed_at_s: float | None = None
    level_changed_at_s: float | None = None
    alike: int = 0
    shown_alone: bool = False


def recent(snapshot: Snapshot) -> Recent:
    """The snapshot since the newest change of shares or of the level.

    A change of the level alone leaves shares as they are, so they are those of all batches that share alike.
    """
    series = snapshot.series
    if series is None:
        return Recent(snapshot=snapshot)
    shared, level = _newest(snapshot, series.changes), _newest_level(snapshot, series)
    alike = snapshot if shared is None else cut(snapshot, series, shared)
    found = alike if level is None or level <= (shared or 0) else _at_level(cut(snapshot, series, level), alike)
    return Recent(
        snapshot=found,
        changed_at_s=_begun_s(series, shared),
        level_changed_at_s=_begun_s(series, level),
        alike=shared or 0,
    )


def since_change(snapshot: Snapshot) -> Recent:
    """The snapshot since key groups share the work as they do, whatever the level."""
    series = snapshot.series
    if series is None:
        return Recent(snapshot=snapshot)
    rows = series.changes
    row = _newest(snapshot, rows)
    if row is None:
        return Recent(snapshot=snapshot)
    return Recent(
        snapshot=cut(snapshot, series, row),
        changed_at_s=_begun_s(series, row),
        alike=row,
        shown_alone=shown_alone(series.busy_s, series.batches, row, max((0, *rows[:-1]))),
    )


def steady(snapshot: Snapshot, memory: Memory) -> Snapshot | None:
    """The part of the window since a key group moved, or an executor came or went, the newest time.

    Its batches are those of today's placement. None where no batch is, or nobody knows: the newest assignment has not
    been seen to be carried out.
    """
    series, start_s, acted_at_s = snapshot.series, snapshot.taken_at_s - snapshot.window_s, memory.acted_at_s
    settled = acted_at_s is None or start_s >= acted_at_s
    if series is None:
        return snapshot if settled and start_s >= (memory.fleet_since_s or 0.0) else None
    stirred = np.flatnonzero(series.within(start_s) & ((series.moved > 0) | (series.executors_changed > 0)))
    if not stirred.size:
        return snapshot if settled else None
    row = int(stirred[-1]) + 1
    seen = settled or series.ended_at_s[row - 1] > (acted_at_s or 0.0)
    return cut(snapshot, series, row) if seen and row < series.batches.size else None


def cut(snapshot: Snapshot, series: BatchSeries, row: int) -> Snapshot:
    """The snapshot of the series' rows from this one on; what is counted per window besides is taken in proportion."""
    window_s, batches, before = float(series.row_s[row:].sum()), int(series.batches[row:].sum()), snapshot.rates
    batch_s, rows = float(series.batch_s[row:].sum()), float(series.input_rows[row:].sum())
    part = window_s / snapshot.window_s
    traffic, sent = snapshot.traffic_bytes, snapshot.traffic_sent_bytes
    rates = dataclasses.replace(
        before,
        batches=batches,
        mean_batch_s=batch_s / batches,
        input_rps=rows / window_s,
        processed_rps=rows / batch_s if batch_s > 0 else 0.0,
        other_busy_s=float(series.other_busy_s[row:].sum()),
    )
    return dataclasses.replace(
        snapshot,
        busy_s=_summed(series.busy_s, row),
        records=_summed(series.records, row),
        cpu_s=snapshot.cpu_s * part,
        window_s=window_s,
        rates=rates,
        traffic_bytes=None if traffic is None else traffic * part,
        traffic_sent_bytes=None if sent is None else sent * part,
        stages=_stages(snapshot, series, row),
    )


def _summed(matrix: FloatArray, row: int) -> FloatArray:
    return np.asarray(matrix[row:].sum(axis=0), dtype=np.float64)


def _stages(snapshot: Snapshot, series: BatchSeries, row: int) -> tuple[StageView, ...]:
    """Means per batch since the row: each operator's stage as it grew, and those without key groups as all of them.

    What makes batches differ across the row is no noise, so their spread is that since the row, too.
    """
    of_group = np.array([one.operator for one in snapshot.group_ids], dtype=np.int64)
    in_window = series.within(snapshot.taken_at_s - snapshot.window_s)

    def grew(operator: int | None) -> float:
        mine = [rows.busy_s for rows in series.stages.values() if rows.operator == operator]
        before_s = sum(float(one[in_window].sum()) for one in mine) / max(int(series.batches[in_window].sum()), 1)
        after_s = sum(float(one[row:].sum()) for one in mine) / int(series.batches[row:].sum())
        return after_s / before_s if before_s > 0 else 1.0

    def scaled(view: StageView) -> StageView:
        ratio = grew(view.operator)
        seconds = {name: ratio * getattr(view, name) for name in ("wall_s", "busy_s", "longest_s", "wait_s")}
        spread_s = None if view.spread_s is None else _spread_s(series, row, of_group == view.operator)
        return dataclasses.replace(view, **seconds, spread_s=spread_s)

    return tuple(scaled(view) for view in snapshot.stages)


def _spread_s(series: BatchSeries, row: int, mine: BoolArray) -> float | None:
    """Of one batch of a key group's seconds, pooled over these; None of a single row."""
    batches, per_batch = series.batches[row:], series.busy_s[row:, mine] / series.batches[row:, None]
    if batches.size < 2 or not mine.any():
        return None
    off = per_batch - np.average(per_batch, axis=0, weights=batches)
    return float(np.sqrt((batches[:, None] * off**2).sum() / ((batches.size - 1) * int(mine.sum()))))


def _at_level(newest: Snapshot, alike: Snapshot) -> Snapshot:
    """As much work as in the newest part, shared as in the longer one."""
    for name in ("busy_s", "records"):
        shares, total = getattr(alike, name), float(getattr(newest, name).sum())
        if shares.sum() > 0:
            newest = dataclasses.replace(newest, **{name: shares * (total / float(shares.sum()))})
    return newest


def _newest(snapshot: Snapshot, rows: tuple[int, ...]) -> int | None:
    """The newest change's first row where it lies within the window; None as well for a load that swings."""
    series = snapshot.series
    if series is None or not 0 < len(rows) <= MOST_CHANGES:
        return None
    return rows[-1] if series.within(snapshot.taken_at_s - snapshot.window_s)[rows[-1]] else None


def _newest_level(snapshot: Snapshot, series: BatchSeries) -> int | None:
    """Where rows a second, or the seconds of tasks, came to another level; of both the newer.

    Seconds alone show rises only: task ends that Spark has dropped must not look like work that is gone.
    """
    busy = (series.busy_s.sum(axis=1) + series.other_busy_s) / series.row_s
    rate = _newest(snapshot, unstirred(series, level_changes(series.input_rps, series.batches)))
    work = _newest(snapshot, unstirred(series, level_changes(busy, series.batches)))
    if rate is not None and _falls(series.input_rps, rate) and not _lasts(snapshot, series, rate):
        rate = None
    if work is not None and _falls(busy, work):
        work = None
    return max((row for row in (rate, work) if row is not None), default=None)


def unstirred(series: BatchSeries, rows: tuple[int, ...]) -> tuple[int, ...]:
    """Those of these rows from which on no executor that came or went, and no key group that moved, explains a step."""
    stirred = (series.moved > 0) | (series.executors_changed > 0)
    return tuple(row for row in rows if not stirred[max(0, row - STIRRED_ROWS) : row + 1].any())


def began_at(series: BatchSeries, row: int, known_s: Iterable[float]) -> bool:
    """Whether what begins with a row is what began at one of these moments."""
    begun_s = series.ended_at_s - series.row_s
    first, last = max(0, row - SAME_ROWS), min(begun_s.size - 1, row + SAME_ROWS)
    return any(begun_s[first] <= one <= begun_s[last] for one in known_s)


def _falls(level: FloatArray, row: int) -> bool:
    return float(level[row:].mean()) < float(level[:row].mean())


def _lasts(snapshot: Snapshot, series: BatchSeries, row: int) -> bool:
    return float(series.row_s[row:].sum()) >= FALL_LASTS * snapshot.window_s


def _begun_s(series: BatchSeries, row: int | None) -> float | None:
    return None if row is None else float(series.ended_at_s[row] - series.row_s[row])
