"""Runs that are made once and kept: a table that was interrupted goes on where it was."""

from __future__ import annotations

import dataclasses
import functools
import inspect
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

from benchmarks import sources
from benchmarks.scaling import arena

from streamjob_operator import scaling
from streamjob_operator.scaling import registry
from streamjob_planners import forecast, sizing
from streamjob_sim.scaling_score import ScalingScore

FOLDER = Path("out/benchmarks/scaling")
RULES = Path(scaling.__file__).parent
"""Folders within are rules: what is in one that a rule does not import changes none of its figures."""
FOR_RULES = (Path(forecast.__file__).parent, Path(sizing.__file__).parent)
"""Only rules ask these, so that the same holds of them."""


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
    return sources.version_of(files(rule))


def files(rule: str) -> set[Path]:
    """What the arena and the rule import, directly or not; of what concerns rules alone only what this one does."""
    own = {type(registry.get(rule)).__module__} if rule in registry.names() else set()
    shared = {file for file in sources.behind([arena.__name__, *own]) if not _of_rules(file)}
    return shared | _of_rule(own)


def _of_rule(modules: set[str]) -> set[Path]:
    """These modules and those that they import of what concerns rules alone, directly or not."""
    found: set[Path] = set()
    new = {Path(inspect.getfile(sys.modules[one])) for one in modules}
    while new:
        found |= new
        new = {other for file in new for other in sources.imported_by(file) if _of_rules(other)} - found
    return found


def _of_rules(file: Path) -> bool:
    """Whether it concerns those rules alone that import it."""
    return RULES in file.parent.parents or any(folder in file.parents for folder in FOR_RULES)


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
