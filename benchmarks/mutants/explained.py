"""Survivors that somebody has read: why no test kills them. An entry whose line is gone is refused."""

from __future__ import annotations

import dataclasses
import pathlib
import tomllib
from collections.abc import Iterable, Sequence
from typing import Any

from benchmarks.mutants.kept import Kept, Outcome
from benchmarks.mutants.modules import ROOT

FILE = pathlib.Path(__file__).with_name("explained.toml")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Explained:
    """Changes of one line and why they survive: `equivalent` ones cannot be told apart, others are not worth a test."""

    module: str
    line: str
    becomes: tuple[str, ...]
    equivalent: bool
    why: str

    def covers(self, path: str, outcome: Outcome) -> bool:
        """Whether this entry is about that mutant of the module at `path`."""
        return (self.module, self.line) == (path, outcome.line) and outcome.becomes in self.becomes


def read(file: pathlib.Path = FILE) -> list[Explained]:
    """All entries; one without a field, or with another, raises TypeError."""
    entries: list[dict[str, Any]] = tomllib.loads(file.read_text()).get("explained", [])
    return [Explained(**{**one, "becomes": tuple(one["becomes"])}) for one in entries]


def stale(entries: Iterable[Explained], root: pathlib.Path = ROOT) -> list[str]:
    """A sentence for each entry whose line its module no longer has."""
    return [
        f"{one.module} no longer has the line that is explained: {one.line}"
        for one in entries
        if one.line not in map(str.strip, (root / one.module).read_text().splitlines())
    ]


def needless(entries: Sequence[Explained], kept: Kept) -> list[str]:
    """A sentence for each explained mutant that a test kills now, and that no other line of the same text has, too."""
    left = {(one.line, one.becomes) for one in kept.outcomes.values() if not one.killed}
    return [
        f"{kept.path}: a test kills what is explained: {outcome.becomes}"
        for outcome in kept.outcomes.values()
        if outcome.killed
        and (outcome.line, outcome.becomes) not in left
        and any(one.covers(kept.path, outcome) for one in entries)
    ]


def explanation(entries: Iterable[Explained], path: str, outcome: Outcome) -> Explained | None:
    """The entry about this mutant, if there is one."""
    return next((one for one in entries if one.covers(path, outcome)), None)
