"""Which rows each batch of a query took in, by the query's own checkpoint.

Spark's logs are read, not its state: `offsets/N` says how far batch N reads each source, `sources/K/M` which files are
in step M of source K. Answers need this, since it depends on batches what is late and which rows an update shows.
"""

from __future__ import annotations

import dataclasses
import json
import pathlib
import urllib.parse
from collections.abc import Iterator, Mapping
from typing import Any

from jobs.feed import read_rows
from jobs.job import Batch, Row, Taken


def taken(checkpoint: pathlib.Path) -> list[Taken]:
    """Every committed batch in order; ValueError when one of them is missing."""
    files = [_files(source) for source in sorted((checkpoint / "sources").iterdir(), key=lambda one: int(one.name))]
    before = [-1] * len(files)
    batches = []
    for number in numbered(checkpoint):
        log = logged(checkpoint / "offsets" / str(number))
        until = _steps(log, len(files))
        steps = zip(files, before, until, strict=True)
        rows = _merged([_between(of_source, low, high) for of_source, low, high in steps], checkpoint, number)
        batches.append(Taken(rows=rows, clock_ms=log.clock_ms, watermark_ms=log.watermark_ms))
        before = until
    return batches


def numbered(checkpoint: pathlib.Path) -> list[int]:
    """Numbers of the committed batches, from 0 on; ValueError when one of them is missing."""
    numbers = sorted(int(file.name) for file in (checkpoint / "commits").glob("*") if file.name.isdigit())
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{checkpoint}/commits: batches {numbers} are there, which are not all; keep more of them.")
    return numbers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Logged:
    """What the log says of a batch: its clock and its watermark, ms, and the offset of each source, "-" for none."""

    file: pathlib.Path
    clock_ms: int
    watermark_ms: int
    offsets: list[str]


def logged(file: pathlib.Path) -> Logged:
    """A file of `offsets`."""
    _, text, *offsets = file.read_text(encoding="utf-8").splitlines()
    metadata = json.loads(text)
    return Logged(
        file=file,
        clock_ms=int(metadata["batchTimestampMs"]),
        watermark_ms=int(metadata["batchWatermarkMs"]),
        offsets=offsets,
    )


def reached(checkpoint: pathlib.Path) -> tuple[int, int]:
    """Committed batches, and steps of every source that they took in: both 0 before the first one."""
    last = newest(checkpoint / "commits")
    if last < 0:
        return 0, 0
    return last + 1, min(_step(one) for one in logged(checkpoint / "offsets" / str(last)).offsets) + 1


def newest(log: pathlib.Path) -> int:
    """The newest batch in a log of the checkpoint, -1 before the first one."""
    return max((int(file.name) for file in log.glob("*") if file.name.isdigit()), default=-1)


def _step(offset: str) -> int:
    return -1 if offset == "-" else int(json.loads(offset)["logOffset"])


def _steps(log: Logged, sources: int) -> list[int]:
    """The last step of each source in a batch, -1 for none.

    A query that uses one stream several times has an offset for each use, though it reads it once.
    """
    steps = [_step(one) for one in log.offsets]
    if sources == 1:
        steps = sorted(set(steps))
    if len(steps) != sources:
        raise ValueError(f"{log.file}: {len(steps)} offsets for {sources} sources.")
    return steps


def _files(source: pathlib.Path) -> dict[int, list[pathlib.Path]]:
    """Files of each step; a compacted log holds those of all steps before, too."""
    found: dict[int, dict[str, None]] = {}
    for log in source.iterdir():
        if log.name.startswith("."):
            continue
        for entry in _entries(log):
            found.setdefault(int(entry["batchId"]), {})[entry["path"]] = None
    return {step: [_path(one) for one in paths] for step, paths in found.items()}


def _entries(log: pathlib.Path) -> Iterator[Mapping[str, Any]]:
    _, *lines = log.read_text(encoding="utf-8").splitlines()
    return (json.loads(line) for line in lines)


def _path(address: str) -> pathlib.Path:
    return pathlib.Path(urllib.parse.unquote(urllib.parse.urlsplit(address).path))


def _between(files: Mapping[int, list[pathlib.Path]], low: int, high: int) -> dict[str, list[Row]]:
    rows: dict[str, list[Row]] = {}
    for step in range(low + 1, high + 1):
        for file in files.get(step, []):
            rows.setdefault(file.parent.name, []).extend(read_rows(file))
    return rows


def _merged(sources: list[dict[str, list[Row]]], checkpoint: pathlib.Path, number: int) -> Batch:
    """All sources' rows; a stream that is read twice must have brought the same ones both times."""
    merged: dict[str, list[Row]] = {}
    for rows in sources:
        for stream, some in rows.items():
            if merged.setdefault(stream, some) != some:
                raise ValueError(f"{checkpoint}: batch {number} read {stream} twice, not to the same file.")
    return merged
