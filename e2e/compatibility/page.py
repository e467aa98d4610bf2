"""docs/reference/compatibility.md, from what came of each row on each version of Spark."""

from __future__ import annotations

import dataclasses
import json
import pathlib
from collections.abc import Iterable, Iterator, Mapping

from e2e.compatibility.outcome import Outcome
from e2e.compatibility.rows import ROWS

HEAD = """# What the agent was tried with

Each row is a job of users, each column a version of Spark; each cell one run on real executors, three processes of one
machine. "exact" means that every row of the answer is right and no task failed but for those of a killed executor.
*Moves* are of key groups to random executors, *drained* is an executor that was emptied and left, *came* one that was
asked for and got key groups, *killed* one that got SIGKILL while it held some. Where actuation stays off, the agent's
own sentence says why, and the job's answer is exact all the same.

`make spark-compatibility` runs all of it and writes this page; it was last written on {day}, from the newest run of
each cell.
"""
Outcomes = Mapping[tuple[str, str], Outcome]
"""By row and version of Spark."""


def keep(outcome: Outcome, out: pathlib.Path) -> None:
    """One file for each row and version: the newest run counts."""
    folder = out / outcome.spark
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{outcome.row}.json").write_text(json.dumps(dataclasses.asdict(outcome), indent=1))


def read(out: pathlib.Path) -> Outcomes:
    """All that were kept."""
    found = [json.loads(path.read_text()) for path in sorted(out.glob("*/*.json"))]
    return {
        (one["row"], one["spark"]): Outcome(**{**one, "told": tuple(one["told"]), "wrong": tuple(one["wrong"])})
        for one in found
    }


def line(outcome: Outcome) -> str:
    """The outcome for a person who waits."""
    return f"{outcome.row:<20} Spark {outcome.spark}, {outcome.took_s:.0f} s: {cell(outcome)}"


def cell(outcome: Outcome) -> str:
    """The outcome in the table."""
    if outcome.not_run is not None:
        return f"not run: {outcome.not_run}"
    if outcome.wrong:
        return f"**wrong**: {'; '.join(outcome.wrong)}"
    return ", ".join(["exact", *outcome.told])


def page(outcomes: Outcomes, day: str) -> str:
    """The whole page."""
    return "\n".join([HEAD.format(day=day), *_table(outcomes)]) + "\n"


def _table(outcomes: Outcomes) -> Iterator[str]:
    versions = sorted({version for _, version in outcomes}, key=_numbers, reverse=True)
    yield _cells(["job", *(f"Spark {version}" for version in versions)])
    yield _cells(["---"] * (1 + len(versions)))
    for row in ROWS:
        found = [outcomes.get((row.name, version)) for version in versions]
        yield _cells([row.about, *(_told(one) for one in found)])


def _told(outcome: Outcome | None) -> str:
    if outcome is None:
        return "not run"
    text = cell(outcome).replace("|", "\\|").replace("\n", " ")
    return f"{text}; Java {outcome.java}" if outcome.java and "java" in outcome.row else text


def _cells(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
