"""What the batches of a window took, row by row: what a mean over the window cannot tell."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from streamjob_planners.batch.change import changes
from streamjob_planners.model import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class StageRows:
    """One stage of the batches of each row, added up over them, seconds, each (n_rows,).

    Attributes:
        operator: the operator whose key groups are its tasks; None for a stage without key groups.
        wall_s: from the stage's submission to its end.
        busy_s: run time of all its tasks.
        longest_s: run time of its longest task.
        wait_s: of all its tasks, from its submission to their launch.
    """

    operator: int | None
    wall_s: FloatArray
    busy_s: FloatArray
    longest_s: FloatArray
    wait_s: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ran:
    """Who ran the tasks of a series: numbers of executors, each once, rising, and the place of each task's executor
    among them, (n_rows, n_groups)."""

    numbers: tuple[int, ...]
    place: IntArray


@dataclasses.dataclass(frozen=True, kw_only=True)
class BatchSeries:
    """One row per batch, oldest first; a row stands for several where they ended between two readings.

    Attributes:
        ended_at_s: when the row's last batch was known to have ended, (n_rows,), increasing.
        row_s: time since the row before, (n_rows,), above 0: pauses between batches are in it.
        batches: batches of the row, (n_rows,), 1 or more.
        batch_s: durations of these batches added up, (n_rows,).
        busy_s: seconds of each key group's tasks in them without what only moves and starts cost, (n_rows, n_groups).
        records: records that each key group's tasks read in them, (n_rows, n_groups).
        input_rows: rows that the batches read from the sources, (n_rows,).
        other_busy_s: tasks without a key group, and starts of the others, (n_rows,).
        moved: key groups whose task ran on another executor than in their batch before, (n_rows,).
        executors_changed: executors that came or went, (n_rows,).
        owners: number of the executor of each key group's newest task at the row's end, -1 where unknown,
            (n_rows, n_groups); None where nobody tells.
        parts_s: parts of the batches by the names that Spark's progress gives them, each (n_rows,).
        stages: stages of the batches by their names on the agent's page.
    """

    ended_at_s: FloatArray
    row_s: FloatArray
    batches: IntArray
    batch_s: FloatArray
    busy_s: FloatArray
    records: FloatArray
    input_rows: FloatArray
    other_busy_s: FloatArray
    moved: IntArray
    executors_changed: IntArray
    owners: IntArray | None = None
    parts_s: Mapping[str, FloatArray] = dataclasses.field(default_factory=dict)
    stages: Mapping[str, StageRows] = dataclasses.field(default_factory=dict)

    @property
    def input_rps(self) -> FloatArray:
        """Rows per second that each row took, (n_rows,)."""
        return self.input_rows / self.row_s

    @functools.cached_property
    def changes(self) -> tuple[int, ...]:
        """Rows from which on key groups share the work anew, ascending; a cycle asks several times."""
        return changes(self.busy_s, self.batches)

    @functools.cached_property
    def ran(self) -> Ran | None:
        """Who ran each row's tasks; None where nobody tells owners. A cycle asks several times."""
        if self.owners is None:
            return None
        numbers, place = np.unique(self.owners, return_inverse=True)
        return Ran(numbers=tuple(numbers.tolist()), place=place.reshape(self.owners.shape).astype(np.int64))

    def within(self, start_s: float) -> BoolArray:
        """Rows that begin at or after a moment, (n_rows,)."""
        begun: BoolArray = self.ended_at_s - self.row_s >= start_s - CLOCKS_S
        return begun

    def row_at(self, start_s: float | None) -> int:
        """The first row that begins at or after a moment; 0 where it is None or no row does."""
        rows = self.within(-np.inf if start_s is None else start_s)
        return int(rows.argmax()) if rows.any() else 0

    def since(self, start_s: float | None) -> BatchSeries:
        """The rows that begin at or after a moment; all of them where it is None or no row does."""
        return self.from_row(self.row_at(start_s))

    def from_row(self, row: int) -> BatchSeries:
        """The rows from this one on."""
        if row == 0:
            return self
        arrays = {name: column[row:] for name, column in _arrays(self).items()}
        parts_s = {part: seconds[row:] for part, seconds in self.parts_s.items()}
        return dataclasses.replace(self, **arrays, parts_s=parts_s, stages=_rows_from(self.stages, row))

    def followed_by(self, later: BatchSeries) -> BatchSeries:
        """These rows and then those of another series, which tells of the same key groups, parts and stages."""
        arrays = _joined(_arrays(self), _arrays(later))
        stages = {
            stage: dataclasses.replace(rows, **_joined(_arrays(rows), _arrays(later.stages[stage])))
            for stage, rows in self.stages.items()
        }
        return dataclasses.replace(self, **arrays, parts_s=_joined(self.parts_s, later.parts_s), stages=stages)

    @property
    def nbytes(self) -> int:
        """What its arrays hold, bytes."""
        stages = (one for rows in self.stages.values() for one in _arrays(rows).values())
        return sum(one.nbytes for one in (*_arrays(self).values(), *self.parts_s.values(), *stages))

    def of_groups(self, columns: IntArray) -> BatchSeries:
        """The same batches of some of the key groups, in the order of `columns`."""
        owners = None if self.owners is None else self.owners[:, columns]
        return dataclasses.replace(
            self, busy_s=self.busy_s[:, columns], records=self.records[:, columns], owners=owners
        )

    def trouble(self, n_groups: int) -> str | None:
        """Why this is no series of so many key groups; None where it is one."""
        n_rows = self.ended_at_s.size
        columns = dict(self._columns())
        for name, column in columns.items():
            if column.shape != (n_rows,):
                return f"{name}: {column.size} values given for {n_rows} rows"
        for name, matrix in (("busy_s", self.busy_s), ("records", self.records)):
            if matrix.shape != (n_rows, n_groups):
                return f"{name}: shape {matrix.shape} given, ({n_rows}, {n_groups}) is needed"
        if self.owners is not None and self.owners.shape != (n_rows, n_groups):
            return f"owners: shape {self.owners.shape} given, ({n_rows}, {n_groups}) is needed"
        counted = (*columns.values(), self.busy_s, self.records)
        sound = all(np.isfinite(one).all() and (one >= 0).all() for one in counted)
        return None if sound and (self.row_s > 0).all() and (self.batches > 0).all() else _UNSOUND

    def _columns(self) -> Iterator[tuple[str, FloatArray | IntArray]]:
        """Every column of one value a row but the first, by its name in a file."""
        for name in ("row_s", "batches", "batch_s", "input_rows", "other_busy_s", "moved", "executors_changed"):
            yield name, getattr(self, name)
        yield from ((f"parts_s.{part}", values) for part, values in self.parts_s.items())
        for stage, rows in self.stages.items():
            for name in ("wall_s", "busy_s", "longest_s", "wait_s"):
                yield f"stages.{stage}.{name}", getattr(rows, name)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchTimes:
    """Batches one by one: when each ended, and its seconds as measured and as predicted, each (n_rows,)."""

    ended_at_s: FloatArray
    measured_s: FloatArray
    predicted_s: FloatArray

    @property
    def error_ratio(self) -> FloatArray:
        """Difference between predicted and measured seconds, without its sign, as a part of the measured ones, of the
        batches that took any time."""
        took = self.measured_s > 0
        return np.abs(self.predicted_s[took] / self.measured_s[took] - 1.0)

    def ended_after(self, at_s: float) -> BatchTimes:
        """Those batches that ended later than a moment; scrapes are stamped in milliseconds."""
        return self.rows(self.ended_at_s > at_s + CLOCKS_S)

    def rows(self, which: BoolArray) -> BatchTimes:
        """Those batches, (n_rows,)."""
        return BatchTimes(
            ended_at_s=self.ended_at_s[which],
            measured_s=self.measured_s[which],
            predicted_s=self.predicted_s[which],
        )


def joined(times: Iterable[BatchTimes]) -> BatchTimes | None:
    """Every batch once, as it was predicted first, oldest first; None of none. `times`: of the cycles, in their order.

    Windows overlap, so several cycles tell the same batch; what was known before it is what a prediction is judged by.
    """
    found: list[BatchTimes] = []
    seen_s = -np.inf
    for one in times:
        new = one.ended_after(seen_s)
        if new.ended_at_s.size:
            found.append(new)
            seen_s = float(new.ended_at_s[-1])
    if not found:
        return None
    columns = [field.name for field in dataclasses.fields(BatchTimes)]
    return BatchTimes(**{name: np.concatenate([getattr(one, name) for one in found]) for name in columns})


def _rows_from(stages: Mapping[str, StageRows], row: int) -> dict[str, StageRows]:
    return {
        stage: dataclasses.replace(rows, **{name: column[row:] for name, column in _arrays(rows).items()})
        for stage, rows in stages.items()
    }


def _arrays(rows: BatchSeries | StageRows) -> dict[str, Any]:
    """Its own columns by the names of their fields."""
    found = {field.name: getattr(rows, field.name) for field in dataclasses.fields(rows)}
    return {name: one for name, one in found.items() if isinstance(one, np.ndarray)}


def _joined(before: Mapping[str, Any], after: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.concatenate((one, after[name])) for name, one in before.items()}


CLOCKS_S = 1e-3
"""Scrapes are stamped in milliseconds: a row may seem to begin a little earlier than it does."""
_UNSOUND = "a number of it is below 0 or not finite"
