"""docs/reference/compatibility.md, from what came of each row on each version of Spark."""

from __future__ import annotations

import dataclasses
import json
import pathlib
import re
from collections.abc import Iterable, Iterator, Mapping

from e2e.compatibility.outcome import Outcome
from e2e.compatibility.rows import ROWS

HEAD = """# What the agent was tried with

Each row is a job of users, each column a version of Spark; each cell one run on real executors, three processes of one
machine. "exact" means that every row of the answer is right and no task failed but for those of a killed executor.
*Moves* are of key groups to random executors, *drained* is an executor that was emptied and left, *came* one that was
asked for and got key groups, *killed* one that got SIGKILL while it held some. Where actuation stays off, the agent's
own sentence says why, and the job's answer is exact all the same.

`make spark-compatibility` runs all of it and writes this page, from the newest run of each cell: its day is at its end.
Cells that were not run again stay. The rows down to bounded memory are for every version, the others for two of them.
"""
NOT_RUN = "not run"
Outcomes = Mapping[tuple[str, str], Outcome]
"""By row and version of Spark."""
Cells = Mapping[tuple[str, str], str]
"""By what the page says of a row, and version of Spark."""


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
        return f"{NOT_RUN}: {outcome.not_run}"
    if outcome.wrong:
        return f"**wrong**: {'; '.join(outcome.wrong)}"
    return ", ".join(["exact", *outcome.told])


def cells(outcomes: Outcomes) -> Cells:
    """What the page says of each outcome."""
    abouts = {row.name: row.about for row in ROWS}
    return {(abouts[row], version): _told(one) for (row, version), one in outcomes.items() if row in abouts}


def kept(text: str) -> Cells:
    """What a page says already. A row that is described otherwise since is another row."""
    table = [re.split(r"(?<!\\)\|", line.strip("| ")) for line in text.splitlines() if line.startswith("| ")]
    if not table:
        return {}
    (_, *versions), _, *rows = [[one.strip() for one in row] for row in table]
    return {
        (about, version.removeprefix("Spark ")): told
        for about, *row in rows
        for version, told in zip(versions, row, strict=True)
        if told != NOT_RUN
    }


def page(found: Cells) -> str:
    """The whole page."""
    return "\n".join([HEAD, *_table(found)]) + "\n"


def _table(found: Cells) -> Iterator[str]:
    versions = sorted({version for _, version in found}, key=_numbers, reverse=True)
    yield _cells(["job", *(f"Spark {version}" for version in versions)])
    yield _cells(["---"] * (1 + len(versions)))
    for row in ROWS:
        yield _cells([row.about, *(found.get((row.about, version), NOT_RUN) for version in versions)])


def _told(outcome: Outcome) -> str:
    text = cell(outcome).replace("|", "\\|").replace("\n", " ")
    java = f"; Java {outcome.java}" if outcome.java and "java" in outcome.row else ""
    return f"{text}{java} ({outcome.day})"


def _cells(texts: Iterable[str]) -> str:
    return f"| {' | '.join(texts)} |"


def _numbers(version: str) -> tuple[int, ...]:
    return tuple(int(part) for part in version.split(".") if part.isdigit())
