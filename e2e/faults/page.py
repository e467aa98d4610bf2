"""The outcomes as a page: kept in a file between runs of single faults, written as docs/faults.md."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator, Sequence
from pathlib import Path

from e2e.faults.judge import Outcome

HEAD = """# Faults and outcomes

`make faults` runs them on a real kube-apiserver, etcd and controller manager, with a real Prometheus and the real agent
over a simulated Spark, each in a namespace of its own, {parallel} at the same time. The job starts on four executors,
two of which its load does not need, with a skew to level: every fault strikes while key groups move and executors
drain.
"Converged" is the time from the start of the operator until the job is Balanced on two executors with nothing under
way, on two cores that had other work, too; after a kill the Lease alone takes 15 s. "Doubled": an executor removed
twice, more executors asked for than allowed, an assignment given twice. "Lost": an executor removed with key groups on
it, key groups without a live executor, an assignment that was never applied.

This page is what `make faults PAGE=docs/faults.md` wrote on {day}.
"""
COLUMNS = ("fault", "converged", "plans", "executors removed", "doubled", "lost", "what was seen")


def keep(outcomes: Sequence[Outcome], file: Path) -> list[Outcome]:
    """All outcomes of the file, with these in the place of older ones of the same name."""
    found = {one["name"]: one for one in json.loads(file.read_text(encoding="utf-8"))} if file.exists() else {}
    found |= {one.name: dataclasses.asdict(one) for one in outcomes}
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(json.dumps(list(found.values()), indent=1) + "\n", encoding="utf-8")
    return [Outcome(**{**one, "doubled": tuple(one["doubled"]), "lost": tuple(one["lost"])}) for one in found.values()]


def cells(one: Outcome) -> tuple[str, ...]:
    """An outcome as a row."""
    converged = "no" if one.converged_s is None else f"{one.converged_s:.0f} s"
    doubled, lost = "; ".join(one.doubled) or "nothing", "; ".join(one.lost) or "nothing"
    return (one.name, converged, str(one.generations), str(one.removed), doubled, lost, one.note)


def page(outcomes: Sequence[Outcome], day: str, parallel: int) -> str:
    """The page as Markdown."""
    return HEAD.format(day=day, parallel=parallel) + "\n" + "\n".join(_rows(outcomes)) + "\n"


def _rows(outcomes: Sequence[Outcome]) -> Iterator[str]:
    yield _row(COLUMNS)
    yield _row(("---",) * len(COLUMNS))
    for one in outcomes:
        yield _row(cells(one))


def _row(texts: Sequence[str]) -> str:
    return "| " + " | ".join(text.replace("|", "\\|").replace("\n", " ") for text in texts) + " |"
