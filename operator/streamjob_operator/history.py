"""The history file: one JSON line per cycle with all that it saw and did, and lines of facts about the run.

Lines are `{"kind": "cycle", ...}` or any other kind that a caller notes, such as "job". A line that a crash tore is
left out by the reader; a new writer of the same file starts on a line of its own. Of a file that has become too large
the oldest cycles go, and a line says how many.
"""

from __future__ import annotations

import contextlib
import dataclasses
import itertools
import json
import os
import pathlib
from collections.abc import Iterator
from typing import Any, BinaryIO

from streamjob_operator.codec import decode, encode
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord
from streamjob_operator.whole import replacing

CYCLE, JOB, SHORTENED = "cycle", "job", "shortened"
_OF_A_CYCLE, _OF_BEING_SHORTENED = b'{"kind":"cycle",', b'{"kind":"shortened",'
"""How a writer begins such lines."""


class HistoryError(ValueError):
    """A history that cannot be read: the sentence names the file and the line."""


class HistoryFile:
    """Reporter that appends each record to a file; every line is on disk before the next cycle starts.

    A file of more than `most_bytes`, if they are given, loses its oldest cycles until half of that is left; other lines
    stay. It should be room for several cycles, of 0.6 KB a key group each.
    """

    def __init__(self, path: str | pathlib.Path, job: StreamJob | None = None, most_bytes: int | None = None) -> None:
        self.path = pathlib.Path(path)
        self.most_bytes = most_bytes
        self.path.parent.mkdir(parents=True, exist_ok=True)
        if _torn(self.path):
            self._append("\n")
        if job is not None:
            self.note(JOB, **job_facts(job))

    def report(self, record: CycleRecord) -> None:
        """Append the record; raises OSError when the disk refuses."""
        self.note(CYCLE, **encode(record))
        if self.most_bytes is not None and self.path.stat().st_size > self.most_bytes:
            self._shorten(self.most_bytes // 2)

    def note(self, kind: str, **facts: Any) -> None:
        """Append a line of facts that are no cycle."""
        self._append(json.dumps({"kind": kind, **facts}, separators=(",", ":"), allow_nan=False) + "\n")

    def _append(self, text: str) -> None:
        before = self.path.stat().st_size if self.path.exists() else 0
        try:
            with self.path.open("a", encoding="utf-8") as file:
                file.write(text)
        except OSError:
            with contextlib.suppress(OSError):  # half a line would spoil the next one, once the disk has room again
                os.truncate(self.path, before)
            raise

    def _shorten(self, to_bytes: int) -> None:
        """As a whole or not at all: who reads meanwhile has the file as it was. Raises OSError."""
        left_bytes, without = self.path.stat().st_size, 0
        with self.path.open("rb") as old, replacing(self.path, lasting=True) as new:
            for line in old:
                if line.startswith(_OF_BEING_SHORTENED):
                    without += json.loads(line)["cycles"]
                elif line.startswith(_OF_A_CYCLE) and left_bytes > to_bytes:
                    left_bytes -= len(line)
                    without += 1
                else:
                    new.write(line)
            new.write(_OF_BEING_SHORTENED + b'"cycles":%d}\n' % without)


def _torn(path: pathlib.Path) -> bool:
    """Whether the last line lacks its end."""
    if not path.exists() or path.stat().st_size == 0:
        return False
    with path.open("rb") as file:
        file.seek(-1, os.SEEK_END)
        return file.read(1) != b"\n"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Notes:
    """The lines of a history that are no cycle, oldest first, with their kind."""

    notes: tuple[dict[str, Any], ...]

    def of_kind(self, kind: str) -> tuple[dict[str, Any], ...]:
        """The notes of one kind."""
        return tuple(note for note in self.notes if note["kind"] == kind)

    @property
    def job(self) -> dict[str, Any]:
        """Facts about the job, of the newest controller that wrote the file; empty when none told them."""
        return next(iter(self.of_kind(JOB)[-1:]), {})

    @property
    def shortened_by(self) -> int:
        """Cycles, the oldest ones, that the file no longer has."""
        return sum(one["cycles"] for one in self.of_kind(SHORTENED))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class History(Notes):
    """All that a history file holds: of a run of minutes. A day of a large job is more than fits in memory."""

    cycles: tuple[CycleRecord, ...]


def cycles_of(path: str | pathlib.Path) -> Iterator[CycleRecord]:
    """The cycles of a file, one after another, oldest first; raises HistoryError as :func:`read_history` does."""
    with _opened(path) as file:
        for number, line in enumerate(file, start=1):
            if (cycle := _cycle(path, number, line)) is not None:
                yield cycle


def newest_first(path: str | pathlib.Path) -> Iterator[CycleRecord]:
    """The same from the newest one on; what is not asked for is not understood, so this is soon done."""
    with _opened(path) as file:
        starts = [0, *itertools.accumulate(map(len, file))][:-1]
        for number, start in reversed(list(enumerate(starts, start=1))):
            file.seek(start)
            if (cycle := _cycle(path, number, file.readline())) is not None:
                yield cycle


def notes_of(path: str | pathlib.Path) -> Notes:
    """The lines that are no cycle; raises HistoryError as :func:`read_history` does."""
    with _opened(path) as file:
        found = [
            _document(path, number, line)
            for number, line in enumerate(file, start=1)
            if not line.startswith(_OF_A_CYCLE)  # soon done: hardly any line is left to be taken apart
        ]
    return Notes(notes=tuple(one for one in found if one is not None and one["kind"] != CYCLE))


def read_history(path: str | pathlib.Path) -> History:
    """Read a file; raises HistoryError with a sentence when a whole line cannot be understood."""
    return History(cycles=tuple(cycles_of(path)), notes=notes_of(path).notes)


def _cycle(path: str | pathlib.Path, number: int, line: bytes) -> CycleRecord | None:
    """What a line tells of a cycle; None of any other line."""
    document = _document(path, number, line)
    if document is None or document["kind"] != CYCLE:
        return None
    try:
        return decode(CycleRecord, document)
    except ValueError as error:
        raise HistoryError(f"{path}, line {number}: {error}") from error


def _document(path: str | pathlib.Path, number: int, line: bytes) -> dict[str, Any] | None:
    """What a line tells; None of one that is empty or torn."""
    try:
        document = json.loads(line)
    except (ValueError, RecursionError):
        return None  # empty, or torn by a crash while it was written
    if not isinstance(document, dict) or "kind" not in document:
        raise HistoryError(f"{path}, line {number}: not a line of a history")
    return document


@contextlib.contextmanager
def _opened(path: str | pathlib.Path) -> Iterator[BinaryIO]:
    try:
        with pathlib.Path(path).open("rb") as file:
            yield file
    except OSError as error:
        raise HistoryError(f"{path}: {error.strerror or error}") from error


def job_facts(job: StreamJob) -> dict[str, Any]:
    """What a reader needs to know of the job's policy."""
    balancing, scaling = job.spec.balancing, job.spec.scaling
    return {
        "name": job.metadata.name,
        "planner": balancing.planner,
        "statistics_period_s": balancing.statistics_period_s,
        "objective": balancing.objective.value,
        "max_load_distance_pct": balancing.tolerated_load_distance_pct,
        "max_cost_s": balancing.migration_budget.max_cost_s,
        "max_migrations": balancing.migration_budget.max_migrations,
        "scaling_rule": scaling.rule,
        "executors_min": job.spec.executors.min,
        "executors_max": job.spec.executors.max,
    }
