"""What a job is given to run on, and how much of each job is run."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping

from benchmarks.jobs_on_spark.piece import Amounts

BATCHES, SKIP = 28, 8
ROWS_OF: Mapping[str, int] = {}
"""Jobs whose batches would be far from those of the others with as many rows, where executors compute."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shape:
    """Executors with a slot each; where executors come and go, that many at most.

    `rows` are those of a batch, `key_groups` of an operator with state, `wait_ms` what a task waits for each record
    that it fetched of a shuffle; None where it does not wait.
    """

    name: str
    about: str
    executors: int
    key_groups: int
    rows: int
    wait_ms: float | None = None


SHAPES = (
    Shape(
        name="cpu",
        about="two executors of one slot, as many as there are cores",
        executors=2,
        key_groups=8,
        rows=20_000,
    ),
    Shape(
        name="waiting-4",
        about="four executors that wait: 1 ms for each record fetched of a shuffle",
        executors=4,
        key_groups=16,
        rows=4_000,
        wait_ms=1.0,
    ),
    Shape(
        name="waiting-8",
        about="eight executors that wait: 1 ms for each record fetched of a shuffle",
        executors=8,
        key_groups=32,
        rows=8_000,
        wait_ms=1.0,
    ),
)
NAMES = tuple(one.name for one in SHAPES)


def named(name: str) -> Shape:
    """The shape of that name; ValueError names those that are there."""
    for one in SHAPES:
        if one.name == name:
            return one
    raise ValueError(f"shape: {name!r} given; known are {', '.join(NAMES)}.")


def amounts(shape: Shape, job: str, rows: int | None = None, batches: int = BATCHES, skip: int = SKIP) -> Amounts:
    """Of one job; `rows` in place of those that are usual for it."""
    usual = shape.rows if shape.wait_ms is not None else ROWS_OF.get(job, shape.rows)
    return Amounts(rows=rows or usual, batches=batches, skip=skip, key_groups=shape.key_groups)
