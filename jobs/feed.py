"""A job's input as files: one for each stream and batch, whole at once, and the tables beside them."""

from __future__ import annotations

import itertools
import json
import math
import os
import pathlib
import time
from collections.abc import Callable, Iterator, Sequence

import numpy as np

from jobs.job import Batch, Job, Row

FIRST_S = 1_700_000_000.0
"""Time of change of the first file, for input whose order no clock shall decide."""


def batches(job: Job, seed: int, rows: int) -> Iterator[Batch]:
    """The job's input without end, of its own streams only: about `rows` rows a batch, the same for the same seed."""
    for batch in job.generate(np.random.default_rng(seed), rows):
        yield {stream: batch[stream] for stream in job.streams}


def prepare(job: Job, folder: pathlib.Path) -> None:
    """Folders for the streams, and the tables."""
    for stream in job.streams:
        (folder / stream).mkdir(parents=True, exist_ok=True)
    for table, (_, rows) in job.tables.items():
        (folder / table).mkdir(parents=True, exist_ok=True)
        _write(rows, folder / table / "rows.json")


def publish(batch: Batch, folder: pathlib.Path, number: int, changed_s: float | None = None) -> None:
    """One batch; Spark takes files in the order of `changed_s`, their time of change, now if none is given."""
    for stream, rows in batch.items():
        _write(rows, folder / stream / f"{number:06d}.json", changed_s)


def publish_all(job: Job, folder: pathlib.Path, seed: int, rows: int, count: int) -> None:
    """The first `count` batches, in an order that no clock decides."""
    prepare(job, folder)
    for number, batch in enumerate(itertools.islice(batches(job, seed, rows), count)):
        publish(batch, folder, number, changed_s=FIRST_S + number)


def publish_at(
    job: Job,
    folder: pathlib.Path,
    seed: int,
    rate_rps: float,
    every_s: float,
    count: int | None,
    also: Callable[[Batch], None] | None = None,
) -> None:
    """Batches at a rate, for a job that runs beside: `count` of them, or until it is stopped.

    Those that the folder has of all streams are passed over: it goes on where it was stopped. The others come each
    `every_s`, or as much later or sooner as a whole number of rows takes at that rate, and are handed to `also`, too,
    once their files are there. ValueError for a rate or a time that is none.
    """
    for name, value in (("rate", rate_rps), ("every", every_s)):
        if not (0.0 < value < math.inf):
            raise ValueError(f"{name}: {value:g} given; it is more than 0.")
    rows = max(1, round(rate_rps * every_s))
    every_s = rows / rate_rps
    prepare(job, folder)
    first = min(following(folder / stream) for stream in job.streams)
    given = itertools.islice(batches(job, seed, rows), first, None if count is None else first + count)
    due_s = time.monotonic()
    for number, batch in enumerate(given, first):
        publish(batch, folder, number)
        if also is not None:
            also(batch)
        due_s += every_s
        time.sleep(max(0.0, due_s - time.monotonic()))


def following(folder: pathlib.Path) -> int:
    """The number of a stream's next batch, behind those that its folder has."""
    return max((int(file.stem) for file in folder.glob("*.json") if file.stem.isdecimal()), default=-1) + 1


def chunks(rows: Iterator[Row], size: int) -> Iterator[list[Row]]:
    """The rows, `size` at a time."""
    while some := list(itertools.islice(rows, size)):
        yield some


def read_rows(file: pathlib.Path) -> list[Row]:
    """The rows of a file."""
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines()]


def _write(rows: Sequence[Row], file: pathlib.Path, changed_s: float | None = None) -> None:
    draft = file.parent.with_name(f".{file.parent.name}-{file.name}")
    draft.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    if changed_s is not None:
        os.utime(draft, (changed_s, changed_s))
    draft.replace(file)
