"""Mutants of the modules that decide, in pieces that are run once; see docs/decisions/0059-mutants.md.

    python -m benchmarks.mutants                              # a sample of each module, then the page
    python -m benchmarks.mutants gate verify --sample 20      # 20 mutants of each of these, then the page
    python -m benchmarks.mutants gate --sample all            # every mutant
    python -m benchmarks.mutants --page                       # the page alone, from what was kept

Wants `make .venv-mutants/.ready`, once. A process at a time; it gives way to others under `nice`.
"""

from __future__ import annotations

import argparse
import contextlib
import datetime
import importlib
import json
import os
import subprocess
from typing import TextIO

from benchmarks.mutants import child, explained, kept, mutant, page
from benchmarks.mutants.modules import MODULES, ROOT, Module, named

MAKER = ROOT / ".venv-mutants" / "bin" / "python"
PAGE = ROOT / "docs" / "mutants.md"
SAMPLE, SEED = 60, 1


def main() -> int:
    """0 when every module that was run reaches the goal and each of its survivors is explained."""
    given = _arguments()
    entries = explained.read()
    wrong = explained.stale(entries)
    modules = [] if given.page else named(given.modules)
    for module in modules:
        n = None if given.sample == "all" else int(given.sample)
        found = _run(module, n, given.seed)
        wrong += explained.needless(entries, found)
        print(page.line(page.score(found, entries)), flush=True)
    scores = [page.score(kept.read(module), entries) for module in MODULES]
    PAGE.write_text(page.page(scores, PAGE.read_text()))
    print(*wrong, sep="\n")
    asked = {module.path for module in modules}
    return int(bool(wrong) or not all(one.good for one in scores if one.kept.path in asked))


def _run(module: Module, n: int | None, seed: int) -> kept.Kept:
    """What is known of the module once the sample is looked at."""
    text, found, tests = (ROOT / module.path).read_text(), kept.read(module), kept.digest_of_tests(module)
    able = mutant.that_matter(text, _mutants(module))
    found.mutants = len(able)
    due = [one for one in mutant.sampled(module.path, able, n, seed) if found.due(one.key, tests)]
    if not due:
        return found
    say = os.fdopen(os.dup(1), "w", buffering=1)
    by_key = {one.key: one for one in due}

    def reporting(base: child.Base) -> child.Reported:
        return lambda key, killed: _note(found, _outcome(text, by_key[key], base, killed, tests), key, say)

    base = child.session(module, text, due, reporting)
    found = kept.read(module)  # as the session's own process left it
    found.mutants = len(able)
    _import(base.imported)
    rest = [one for one in due if not mutant.statement(text, one.line)]
    everything = base.reaching(range(0))
    if rest and child.killed(module, text, everything, base.limit_s):
        raise SystemExit(f"{module.name}: its tests fail in this order without a mutant")
    for one in rest:
        killed = child.killed(module, one.text, everything, base.limit_s)
        _note(found, _outcome(text, one, base, killed, tests), one.key, say)
    return found


def _import(names: list[str]) -> None:
    """What is not ours, so that processes forked from here have it."""
    for name in names:
        with contextlib.suppress(Exception):  # what cannot be imported alone is imported by the tests
            importlib.import_module(name)


def _note(found: kept.Kept, outcome: kept.Outcome, key: str, say: TextIO) -> None:
    found.outcomes[key] = outcome
    found.day = datetime.datetime.now(tz=datetime.UTC).date().isoformat()
    kept.keep(found)
    if not outcome.killed:
        place = f"{found.path}:{outcome.at}"
        say.write(f"{place}: survived {outcome.reached} tests: {outcome.line}  ->  {outcome.becomes}\n")


def _outcome(text: str, one: mutant.Mutant, base: child.Base, killed: bool, tests: str) -> kept.Outcome:
    old, new = mutant.change(text, one.text)
    return kept.Outcome(
        operator=one.operator,
        at=one.line,
        line=old,
        becomes=new,
        killed=killed,
        reached=len(base.reaching(mutant.statement(text, one.line))),
        tests=tests,
    )


def _mutants(module: Module) -> list[mutant.Mutant]:
    maker = ROOT / "benchmarks" / "mutants" / "make_mutants.py"
    if not MAKER.exists():
        raise SystemExit("there is no .venv-mutants: make .venv-mutants/.ready")
    made = kept.OUT / "made" / f"{module.name}-{kept.digest((ROOT / module.path).read_text(), maker.read_text())}.json"
    if not made.exists():
        told = subprocess.run([MAKER, maker, ROOT / module.path], check=True, stdout=subprocess.PIPE, text=True).stdout
        made.parent.mkdir(parents=True, exist_ok=True)
        made.write_text(told)
    return [mutant.Mutant(**one) for one in json.loads(made.read_text())]


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("modules", nargs="*", help="names of modules; all without")
    parser.add_argument("--sample", default=str(SAMPLE), help="mutants of each module, or all")
    parser.add_argument("--seed", type=int, default=SEED, help="which ones")
    parser.add_argument("--page", action="store_true", help="write the page from what was kept, run nothing")
    return parser.parse_args()


if __name__ == "__main__":
    raise SystemExit(main())
