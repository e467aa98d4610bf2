"""What came of the mutants, one file for each module: a run goes on where the one before was stopped.

A module that changed begins anew. Once killed stays killed; survivors run again when the tests have changed.
"""

from __future__ import annotations

import dataclasses
import hashlib
import json
import pathlib

from benchmarks.mutants.modules import ROOT, Module

OUT = ROOT / "out" / "mutants"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """What came of one mutant: `line` was changed into `becomes` and a test failed, or none did.

    `tests` says which tests there were; `reached`: how many of them run the changed statement.
    """

    operator: str
    at: int
    line: str
    becomes: str
    killed: bool
    reached: int
    tests: str


@dataclasses.dataclass(kw_only=True)
class Kept:
    """All that is known of one module: its text's digest, how many mutants matter, what came of those looked at."""

    path: str
    digest: str
    mutants: int = 0
    day: str = ""
    outcomes: dict[str, Outcome] = dataclasses.field(default_factory=dict)

    def due(self, key: str, tests: str) -> bool:
        """Whether this mutant has to run, with these tests."""
        found = self.outcomes.get(key)
        return found is None or (not found.killed and found.tests != tests)


def digest(*texts: str) -> str:
    """The same for the same texts."""
    return hashlib.sha256("\0".join(texts).encode()).hexdigest()[:16]


def digest_of_tests(module: Module) -> str:
    """The same as long as the tests of the module are."""
    return digest(*((ROOT / test).read_text() for test in module.tests()))


def read(module: Module, out: pathlib.Path = OUT) -> Kept:
    """What was kept of the module as it is now; nothing where it was another."""
    now, path = digest((ROOT / module.path).read_text()), _file(module.path, out)
    found = json.loads(path.read_text()) if path.exists() else {}
    if found.get("digest") != now:
        return Kept(path=module.path, digest=now)
    outcomes = {key: Outcome(**one) for key, one in found.pop("outcomes").items()}
    return Kept(**found, outcomes=outcomes)


def keep(kept: Kept, out: pathlib.Path = OUT) -> None:
    """Written whole, so that a run may be ended at any time."""
    out.mkdir(parents=True, exist_ok=True)
    path = _file(kept.path, out)
    path.with_suffix(".new").write_text(json.dumps(dataclasses.asdict(kept), indent=1))
    path.with_suffix(".new").replace(path)


def _file(path: str, out: pathlib.Path) -> pathlib.Path:
    """Several modules may have the same last name."""
    return out / f"{path.removesuffix('.py').replace('/', '.')}.json"
