"""What one run is, and where runs are kept: a line each, so that a call goes on where the last one stopped."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

RUNS, FAILURES = "runs.jsonl", "failures.jsonl"
LATELY = 3
"""Newest runs that say how long the next one will take."""
UNKNOWN_S = 150.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Amounts:
    """How much of a job is run: batches of about `rows` rows, the first `skip` of them not measured, and key groups of
    each operator with state."""

    rows: int
    batches: int
    skip: int
    key_groups: int

    @property
    def input(self) -> str:
        """A name of the input: the same for all that differ in nothing that makes it."""
        return f"{self.rows}-{self.batches}"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One run: a job in a shape under a system, the how many-eth of them."""

    job: str
    shape: str
    system: str
    round: int
    amounts: Amounts


Line = Mapping[str, Any]
"""A kept run: the fields of its piece, and what was measured."""


def wanted(
    jobs: Sequence[str], shape: str, systems: Sequence[str], rounds: int, amounts: Mapping[str, Amounts]
) -> Iterator[Piece]:
    """All runs, first rounds of all jobs before the second ones; systems take turns at going first."""
    for turn in range(rounds):
        for job in jobs:
            for at in range(len(systems)):
                system = systems[(at + turn) % len(systems)]
                yield Piece(job=job, shape=shape, system=system, round=turn, amounts=amounts[job])


def missing(pieces: Iterator[Piece], kept: Sequence[Line]) -> Iterator[Piece]:
    """Those that were not run yet."""
    done = [of(line) for line in kept]
    return (piece for piece in pieces if piece not in done)


def of(line: Line) -> Piece:
    """The piece of a kept run."""
    fields: dict[str, Any] = {one.name: line[one.name] for one in dataclasses.fields(Piece)}
    return Piece(**{**fields, "amounts": Amounts(**line["amounts"])})


def usual_s(piece: Piece, kept: Sequence[Line]) -> float:
    """How long a run will take, by the newest ones of the same job and amounts."""
    alike = (line for line in kept if line["job"] == piece.job and of(line).amounts == piece.amounts)
    took = [float(line["took_s"]) for line in alike]
    return max(took[-LATELY:], default=UNKNOWN_S)


def read(file: pathlib.Path) -> list[Line]:
    """What was kept, oldest first; a line that was cut short is left out."""
    lines = file.read_text(encoding="utf-8").splitlines() if file.exists() else ()
    return [found for found in map(_parsed, lines) if found is not None]


def append(file: pathlib.Path, piece: Piece, measured: Mapping[str, Any]) -> None:
    """Keep a run, at once; after one that was cut short on a line of its own."""
    torn = file.exists() and not file.read_bytes().endswith(b"\n")
    text = json.dumps({**dataclasses.asdict(piece), **measured})
    with file.open("a", encoding="utf-8") as out:
        out.write(("\n" if torn else "") + text + "\n")


def _parsed(text: str) -> Line | None:
    try:
        found: Line = json.loads(text)
    except ValueError:
        return None
    return found
