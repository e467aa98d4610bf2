"""Runs that are made once and kept: a table that was interrupted goes on where it was."""

from __future__ import annotations

import dataclasses
import hashlib
import json
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks.scaling import arena

from streamjob_sim.scaling_score import ScalingScore

FOLDER = Path("out/benchmarks/scaling")
SOURCES = (
    Path("benchmarks/scaling/arena.py"),
    *(Path(one) for one in ("operator/streamjob_operator", "planners/streamjob_sim", "planners/streamjob_planners")),
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Piece:
    """One run: a rule on a trace with a seed; `part` of the trace's length."""

    trace: str
    rule: str
    seed: int
    part: float

    def path(self, version: str) -> Path:
        """Where its figures are kept."""
        return FOLDER / version / f"{self.trace}-{self.rule}-{self.seed}-{self.part:g}.json"


def version() -> str:
    """Of the code that figures come from: other code, other figures."""
    digest = hashlib.sha256()
    for path in sorted(file for source in SOURCES for file in _files(source)):
        digest.update(path.read_bytes())
    return digest.hexdigest()[:12]


def _files(source: Path) -> Iterator[Path]:
    return source.rglob("*.py") if source.is_dir() else iter((source,))


def kept(piece: Piece, of: str) -> ScalingScore | None:
    """The figures of a piece that was made before; None where it was not."""
    path = piece.path(of)
    return _score(json.loads(path.read_text(encoding="utf-8"))) if path.exists() else None


def _score(row: dict[str, float]) -> ScalingScore:
    return ScalingScore(**row)


def made(pieces: list[Piece], of: str, seconds: float | None) -> Iterator[tuple[Piece, ScalingScore]]:
    """Each piece with its figures; new ones are made until the time is up."""
    began_s = time.monotonic()
    for piece in pieces:
        score = kept(piece, of)
        if score is None:
            if seconds is not None and time.monotonic() - began_s > seconds:
                continue
            score = arena.figures(piece.trace, piece.rule, piece.seed, piece.part)
            _keep(piece.path(of), score)
        yield piece, score


def _keep(path: Path, score: ScalingScore) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(dataclasses.asdict(score)), encoding="utf-8")
