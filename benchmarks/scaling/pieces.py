"""Runs that are made once and kept: a table that was interrupted goes on where it was."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
import inspect
import json
import re
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scaling import arena

from streamjob_operator.scaling import registry
from streamjob_sim.scaling_score import ScalingScore

FOLDER = Path("out/benchmarks/scaling")
SOURCES = (
    "benchmarks/scaling/arena.py",
    "operator/streamjob_operator",
    "simulator/streamjob_sim",
    "planners/streamjob_planners",
)
RULES = Path("operator/streamjob_operator/scaling")
"""Folders within are rules: what is in one that a rule does not import changes none of its figures."""
FOR_RULES = (Path("planners/streamjob_planners/forecast"), Path("planners/streamjob_planners/sizing"))
"""Only rules ask these, so that the same holds of them."""
ROOMS = (Path("operator"), Path("planners"))
IMPORT = re.compile(r"^from (streamjob_[\w.]+) import (\([^)]*\)|.*)$", re.MULTILINE)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One run: a rule on a trace with a seed; `part` of the trace's length."""

    trace: str
    rule: str
    seed: int
    part: float

    @property
    def path(self) -> Path:
        """Where its figures are kept."""
        return FOLDER / version(self.rule) / f"{self.trace}-{self.rule}-{self.seed}-{self.part:g}.json"


@functools.cache
def version(rule: str) -> str:
    """Of the code that a rule's figures come from: other code, other figures."""
    shared = {file for source in SOURCES for file in _files(Path(source)) if not _of_rules(file)}
    digest = hashlib.sha256()
    for path in sorted(shared | _own(rule)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _files(source: Path) -> Iterator[Path]:
    return source.rglob("*.py") if source.is_dir() else iter((source,))


def _of_rules(file: Path) -> bool:
    """Whether it concerns those rules alone that import it."""
    return RULES in file.parent.parents or any(folder in file.parents for folder in FOR_RULES)


def _own(rule: str) -> set[Path]:
    """The rule's module and those that it imports of what concerns rules alone, directly or not; none of a rule of the
    simulator."""
    if rule not in registry.names():
        return set()
    found: set[Path] = set()
    new = {Path(inspect.getfile(type(registry.get(rule)))).relative_to(Path.cwd())}
    while new:
        found |= new
        new = {other for file in new for other in _imported(file) if _of_rules(other)} - found
    return found


def _imported(file: Path) -> Iterator[Path]:
    """Our modules that a file names in its imports."""
    for package, names in IMPORT.findall(file.read_text(encoding="utf-8")):
        for name in ("", *re.findall(r"\w+", names)):
            for room in ROOMS:
                path = (room / package.replace(".", "/") / name).with_suffix(".py")
                if path.exists():
                    yield path


def kept(piece: Piece) -> ScalingScore | None:
    """The figures of a piece that was made before; None where it was not."""
    return ScalingScore(**json.loads(piece.path.read_text(encoding="utf-8"))) if piece.path.exists() else None


def made(pieces: list[Piece], seconds: float | None) -> Iterator[tuple[Piece, ScalingScore]]:
    """Each piece with its figures; new ones are made until the time is up."""
    began_s = time.monotonic()
    for piece in pieces:
        score = kept(piece)
        if score is None:
            if seconds is not None and time.monotonic() - began_s > seconds:
                continue
            score = arena.figures(piece.trace, piece.rule, piece.seed, piece.part)
            _keep(piece.path, score)
        yield piece, score


def _keep(path: Path, score: ScalingScore) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dataclasses.asdict(score)), encoding="utf-8")
