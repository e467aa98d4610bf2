"""What a job is: streams from a seed, queries over them, and the right output of each batch in plain Python."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

Row = dict[str, Any]
"""One row of input or output: strings and whole numbers only, so that nothing depends on how a sum is rounded."""
Rows = list[Row]
Batch = Mapping[str, Sequence[Row]]
"""The rows of each stream."""
Read = Callable[[str], "DataFrame"]
"""The streaming DataFrame of a stream's name, the static one of a table's."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Taken:
    """What one micro-batch of a query took in: rows by stream, none at all in a batch that only closes windows.

    `clock_ms` is the batch's own time, milliseconds since 1970, which `current_timestamp` gives in it. `watermark_ms`
    is the watermark that Spark says it had; None where nobody has asked.
    """

    rows: Batch
    clock_ms: int
    watermark_ms: int | None = None


Answer = Callable[[Sequence[Taken]], list[Rows]]
"""The right output of each batch, by plain Python, which shares nothing with the query."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """One streaming query of a job."""

    name: str
    build: Callable[[Read], DataFrame]
    answer: Answer
    output_mode: str = "append"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """A job.

    Attributes:
        name: how the command line calls it.
        source: where it comes from: paper and section, benchmark, or "daily use".
        about: one line on what it computes.
        streams: schema of each stream, as Spark's DDL.
        tables: schema and rows of each table that does not change.
        generate: `(chance, rows)` to batches without end; `rows` is how many rows a batch has in all streams together,
            more or less. The same seed gives the same batches.
        queries: what runs in the driver at the same time.
    """

    name: str
    source: str
    about: str
    streams: Mapping[str, str]
    generate: Callable[[np.random.Generator, int], Iterator[Batch]]
    queries: Sequence[Query]
    tables: Mapping[str, tuple[str, Sequence[Row]]] = dataclasses.field(default_factory=dict)
