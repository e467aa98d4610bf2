"""Runs as lines of a file."""

from __future__ import annotations

import dataclasses
import pathlib
from typing import Any

from benchmarks.nodes.runs import Ran
from pydantic import TypeAdapter


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kept:
    """One run, with where it was; `case` is its amounts."""

    nodes: int
    executors: int
    mbit_s: float
    job: str
    system: str
    turn: int
    at: str
    case: dict[str, Any]
    ran: Ran


_LINE = TypeAdapter(Kept)


def append(file: pathlib.Path, one: Kept) -> None:
    """Write it at the end."""
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab") as lines:
        lines.write(_LINE.dump_json(one) + b"\n")


def read(file: pathlib.Path) -> list[Kept]:
    """All runs, none where there is no file."""
    return [_LINE.validate_json(line) for line in file.read_bytes().splitlines()] if file.exists() else []
