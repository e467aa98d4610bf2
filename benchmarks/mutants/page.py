"""docs/mutants.md, from what came of the mutants."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence

from benchmarks.mutants.explained import Explained, explanation
from benchmarks.mutants.kept import Kept, Outcome

GOAL = 95.0
"""Percent of the mutants that are not equivalent."""

HEAD = """# Mutants: would a test notice?

A mutant is a module with one change: a comparison that looks one further, a condition turned round, a number one more.
Tests that still pass with it do not say what that line decides. Here are the modules that decide: the agent's, the
cycle's, the judge of plans, and what tells slow executors. How it is done, and what is left out: [decision
0059](decisions/0059-mutants.md).

`make mutants` looks at a sample of each module and writes this page. *Looked at* are mutants of all that matter;
*killed* made a test fail or run without end; *equivalent* ones cannot be told from the original, *explained* ones are
not worth a test, both with a reason in `benchmarks/mutants/explained.toml`; *open* ones nobody has explained.
*Percent* is killed of those that are not equivalent, the goal is 95.
"""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Score:
    """Mutants of one module by what came of them."""

    kept: Kept
    killed: int
    equivalent: int
    explained: int
    left: tuple[Outcome, ...]

    @property
    def percent(self) -> float:
        """Killed of those that could be."""
        able = len(self.kept.outcomes) - self.equivalent
        return 100.0 * self.killed / able if able else 100.0

    @property
    def good(self) -> bool:
        """Whether the goal is reached and every survivor explained."""
        return self.percent >= GOAL and not self.left


def score(kept: Kept, entries: Sequence[Explained]) -> Score:
    """The module's mutants, counted."""
    survivors = [one for one in kept.outcomes.values() if not one.killed]
    found = [(one, explanation(entries, kept.path, one)) for one in survivors]
    return Score(
        kept=kept,
        killed=len(kept.outcomes) - len(survivors),
        equivalent=sum(1 for _, why in found if why is not None and why.equivalent),
        explained=sum(1 for _, why in found if why is not None and not why.equivalent),
        left=tuple(one for one, why in found if why is None),
    )


def page(scores: Sequence[Score], before: str = "") -> str:
    """The whole page; a module of which no mutant was looked at here keeps its row of the page `before`."""
    return "\n".join([HEAD, *_table(scores, before), *_left(scores)]) + "\n"


def line(one: Score) -> str:
    """The module's result for a person who waits."""
    counts = f"{one.killed} killed, {one.equivalent} equivalent, {one.explained} explained, {len(one.left)} open"
    return (
        f"{one.kept.path}: {len(one.kept.outcomes)} of {one.kept.mutants}, {counts}: {math.floor(one.percent)} percent"
    )


def _table(scores: Iterable[Score], before: str) -> Iterator[str]:
    rows = {row.split("`")[1]: row for row in before.splitlines() if row.startswith("| `")}
    yield _cells(["module", "looked at", "killed", "equivalent", "explained", "open", "percent", "on"])
    yield _cells(["---"] * 8)
    for one in scores:
        if not one.kept.outcomes:
            yield rows.get(one.kept.path, _cells([f"`{one.kept.path}`", "not run", *[""] * 6]))
            continue
        looked = f"{len(one.kept.outcomes)} of {one.kept.mutants}"
        counts = map(str, (one.killed, one.equivalent, one.explained, len(one.left)))
        yield _cells([f"`{one.kept.path}`", looked, *counts, f"{math.floor(one.percent)}", one.kept.day])


def _left(scores: Iterable[Score]) -> Iterator[str]:
    left = [(one.kept.path, outcome) for one in scores for outcome in one.left]
    if left:
        yield "\n## Open\n"
    for path, outcome in left:
        seen = "" if outcome.reached else ", which no test reaches"
        yield f"- `{path}:{outcome.at}`{seen}: `{outcome.line}` as `{outcome.becomes}`"


def _cells(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"
