"""A job's output against its answer, row for row and batch for batch."""

from __future__ import annotations

import collections
import json
import pathlib
from collections.abc import Callable, Iterable, Iterator, Sequence

from jobs.feed import read_rows
from jobs.job import Job, Query, Row, Rows, Taken
from jobs.taken import taken

MOST_SHOWN = 5
Took = Callable[[pathlib.Path], list[Taken]]
"""What each batch took in, of a query's checkpoint."""


def check(job: Job, given: pathlib.Path, folder: pathlib.Path, took: Took = taken) -> list[str]:
    """What is wrong with a job's output in `folder`, a sentence each; `given` is its input."""
    return [sentence for query in job.queries for sentence in check_query(job, query, given, folder, took)]


def check_query(job: Job, query: Query, given: pathlib.Path, folder: pathlib.Path, took: Took = taken) -> list[str]:
    """What is wrong with one query: input that no batch took in, and every batch that is not as it should be.

    Where no batch should have a row there is nothing to be right: that is told, too. ValueError without a checkpoint.
    """
    checkpoint = folder / "checkpoint" / query.name
    if not (checkpoint / "commits").is_dir():
        raise ValueError(f"out: {folder} given; {query.name} has committed no batch in it.")
    batches = took(checkpoint)
    right = query.answer(batches)
    outputs = [read_output(folder / "output" / query.name, number) for number in range(len(batches))]
    told = [*_not_taken(job, batches, given), *_silent(right)]
    return [f"{query.name}: {one}" for one in told] + [f"{query.name}, {one}" for one in compare(right, outputs)]


def _silent(right: Sequence[Rows]) -> Iterator[str]:
    if not any(right):
        yield f"no row was due in {len(right)} batches, nothing could be compared"


def read_output(folder: pathlib.Path, number: int) -> Rows:
    """What a batch wrote; nothing where it called no sink."""
    file = folder / f"batch-{number}.json"
    return read_rows(file) if file.exists() else []


def compare(right: Sequence[Rows], found: Sequence[Rows]) -> list[str]:
    """Rows that are missing or too many in each batch, in any order within one."""
    if len(right) != len(found):
        return [f"{len(found)} batches were found, {len(right)} are right"]
    return [
        f"batch {number}: {sentence}"
        for number, (wanted, rows) in enumerate(zip(right, found, strict=True))
        for sentence in _differences(wanted, rows)
    ]


def _differences(wanted: Rows, rows: Rows) -> Iterator[str]:
    right, found = counted(wanted), counted(rows)
    for what, some in (("missing", right - found), ("too many", found - right)):
        if some:
            yield f"{some.total()} of {right.total()} rows {what}: {'; '.join(sorted(some)[:MOST_SHOWN])}"


def counted(rows: Iterable[Row]) -> collections.Counter[str]:
    """How often each row is there."""
    return collections.Counter(json.dumps(row, sort_keys=True) for row in rows)


def _not_taken(job: Job, batches: Sequence[Taken], given: pathlib.Path) -> Iterator[str]:
    """Streams that the query reads and whose rows it did not read exactly once."""
    for stream in job.streams:
        found = counted(row for batch in batches for row in batch.rows.get(stream, ()))
        written = counted(row for file in (given / stream).glob("*.json") for row in read_rows(file))
        if found and found.total() != written.total():
            yield f"{found.total()} rows of {stream} were taken in, {written.total()} were given"
        elif found and found != written:
            yield f"{(written - found).total()} rows of {stream} were not taken in, others more than once"
