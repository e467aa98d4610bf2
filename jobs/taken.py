"""Which rows each batch of a query took in, by the query's own checkpoint.

Spark's logs are read, not its state: `offsets/N` says how far batch N reads each source, `sources/K/M` which files are
in step M of source K. Answers need this, since it depends on batches what is late and which rows an update shows.
"""

from __future__ import annotations

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
        clock_ms, until = _offsets(checkpoint / "offsets" / str(number), len(files))
        steps = zip(files, before, until, strict=True)
        rows = [_between(of_source, low, high) for of_source, low, high in steps]
        batches.append(Taken(rows=_merged(rows, checkpoint, number), clock_ms=clock_ms))
        before = until
    return batches


def numbered(checkpoint: pathlib.Path) -> list[int]:
    """Numbers of the committed batches, from 0 on; ValueError when one of them is missing."""
    numbers = sorted(int(file.name) for file in (checkpoint / "commits").glob("*") if file.name.isdigit())
    if numbers != list(range(len(numbers))):
        raise ValueError(f"{checkpoint}/commits: batches {numbers} are there, which are not all; keep more of them.")
    return numbers


def logged(file: pathlib.Path) -> tuple[int, list[str]]:
    """A batch's clock, ms, and the offset of each source as it stands in the log, "-" for none."""
    _, metadata, *offsets = file.read_text(encoding="utf-8").splitlines()
    return int(json.loads(metadata)["batchTimestampMs"]), offsets


def reached(checkpoint: pathlib.Path) -> tuple[int, int]:
    """Committed batches, and steps of every source that they took in: both 0 before the first one."""
    last = newest(checkpoint / "commits")
    if last < 0:
        return 0, 0
    _, offsets = logged(checkpoint / "offsets" / str(last))
    return last + 1, min(_step(one) for one in offsets) + 1


def newest(log: pathlib.Path) -> int:
    """The newest batch in a log of the checkpoint, -1 before the first one."""
    return max((int(file.name) for file in log.glob("*") if file.name.isdigit()), default=-1)


def _step(offset: str) -> int:
    return -1 if offset == "-" else int(json.loads(offset)["logOffset"])


def _offsets(file: pathlib.Path, sources: int) -> tuple[int, list[int]]:
    """A batch's clock, ms, and the last step of each source, -1 for none.

    A query that uses one stream several times has an offset for each use, though it reads it once.
    """
    clock_ms, offsets = logged(file)
    steps = [_step(one) for one in offsets]
    if sources == 1:
        steps = sorted(set(steps))
    if len(steps) != sources:
        raise ValueError(f"{file}: {len(steps)} offsets for {sources} sources.")
    return clock_ms, steps


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
