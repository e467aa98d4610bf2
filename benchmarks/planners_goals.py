"""Every goal that planners have, measured: prints a table, and publishes it with mean, spread and trials.

    python -m benchmarks.planners_goals                              # all pieces that are not measured yet
    python -m benchmarks.planners_goals --piece '5.1 at 0.1 s' --again
    python -m benchmarks.planners_goals --cpu --again                # on a machine that others use, too
    python -m benchmarks.planners_goals --publish                    # benchmarks/limits/planners.json and the docs

Each piece takes at most five minutes on two cores that do nothing else; what it measured is kept in
out/planners/goals.json. The exit code is 1 when a goal that was measured is missed.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.planners_pieces import BY_CPU, PIECES, Trial

KEPT, LIMITS, PAGE = Path("out/planners/goals.json"), Path("benchmarks/limits/planners.json"), Path("docs")
BEGIN, END = "<!-- goals -->", "<!-- end of goals -->"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Goal:
    """One line: a figure of a piece that must be at most `limit`, in every trial or (`mean`) on average."""

    piece: str
    figure: str
    words: str
    limit: float
    mean: bool = False


def _section_51() -> Iterator[Goal]:
    fast, slow = "5.1 at 0.1 s", "5.1 at 1 s"
    yield Goal(piece=fast, figure="mean_gap", words="mean gap to the proven bound, points", limit=0.05, mean=True)
    yield Goal(piece=fast, figure="most_gap", words="largest gap to the proven bound, points", limit=0.25)
    yield Goal(piece=slow, figure="ratio_of_means", words="mean d / mean of best known d", limit=1.02)
    yield Goal(
        piece=slow, figure="above_1.02", words="instances above 1.02 x best known, by 0.001 points or more", limit=0
    )


def _large() -> Iterator[Goal]:
    for piece, limit in (
        ("100 x 10,000 at 1 s", 0.014),
        ("1000 x 100,000 at 1 s", 0.05),
        ("1000 x 100,000 at 5 s", 0.025),
        ("10,000 x 1,000,000 at 5 s", 0.17),
        ("10,000 x 1,000,000 at 30 s", 0.07),
    ):
        yield Goal(piece=piece, figure="gap", words="load distance above the proven bound, points", limit=limit)
    yield Goal(piece="10,000 x 1,000,000 at 1 s", figure="took_s", words="first plan after, s", limit=1.0)
    yield Goal(piece="10,000 x 1,000,000 at 30 s", figure="memory_gib", words="memory, GiB", limit=4.0)


def _families() -> Iterator[Goal]:
    for piece, more in (("families at 1 s", 1.0), ("families at 0.1 s", 1.15)):
        yield Goal(piece=piece, figure="median_ratio", words="median of d / best known", limit=round(1.02 * more, 3))
        yield Goal(piece=piece, figure="most_ratio", words="largest d / best known", limit=round(1.2 * more, 3))
        felt = "d / best known, both at least 0.05 points"
        yield Goal(piece=piece, figure="median_felt", words=f"median of {felt}", limit=round(1.02 * more, 3))
        yield Goal(piece=piece, figure="most_felt", words=f"largest {felt}", limit=round(1.2 * more, 3))


def _deadlines() -> Iterator[Goal]:
    for piece in PIECES:
        if " at " in piece:
            yield Goal(piece=piece, figure="overrun_s", words="later than the deadline by, s", limit=0.0)


def _rounds() -> Iterator[Goal]:
    for piece, limit in (("figure 5, one overloaded", 11), ("figure 5, five overloaded", 12)):
        yield Goal(piece=piece, figure="rounds", words="rounds until marked nodes are empty", limit=limit)
        yield Goal(piece=piece, figure="above_other_way", words="d above the non-integrated way's, points", limit=0.0)
        yield Goal(piece=piece, figure="end_distance", words="load distance at the end, points", limit=1.2)
    for piece, limit in (("pairs, x = 50", 20), ("chain, x = 100", 36)):
        yield Goal(piece=piece, figure="rounds", words="rounds until all one-to-one traffic is local", limit=limit)
        yield Goal(piece=piece, figure="most_distance", words="largest load distance on the way, points", limit=10.0)
        yield Goal(piece=piece, figure="last_moves", words="moves in the last five rounds", limit=0)


GOALS = (*_section_51(), *_large(), *_families(), *_deadlines(), *_rounds())


def main() -> int:
    """Measure what was asked for, show everything."""
    arguments = _arguments()
    found = json.loads(KEPT.read_text(encoding="utf-8")) if KEPT.exists() else {}
    for piece in arguments.piece or (() if arguments.publish else BY_CPU if arguments.cpu else PIECES):
        if piece not in found or arguments.again:
            found[piece] = list((BY_CPU if arguments.cpu else PIECES)[piece]())
            KEPT.parent.mkdir(parents=True, exist_ok=True)
            KEPT.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")
            print(f"{piece}: {found[piece]}", flush=True)
    print(table(rows_of(found, [])))
    if arguments.publish:
        publish(found)
    return 0 if all(met(goal, found[goal.piece]) for goal in GOALS if measured(goal, found)) else 1


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--piece", action="append", choices=list(PIECES), help="default: all")
    parser.add_argument("--again", action="store_true", help="measure what was measured before, too")
    parser.add_argument("--cpu", action="store_true", help=f"deadlines in CPU time of each thread: {', '.join(BY_CPU)}")
    parser.add_argument("--publish", action="store_true", help="write the limits and the table of the documentation")
    given = parser.parse_args()
    if given.cpu and set(given.piece or ()) - set(BY_CPU):
        parser.error(f"--cpu: it has the pieces {', '.join(BY_CPU)}")
    return given


def measured(goal: Goal, found: dict[str, list[Trial]]) -> bool:
    """Whether the goal's figure is known: with deadlines in CPU time nothing says how late plans are."""
    return goal.piece in found and all(goal.figure in trial for trial in found[goal.piece])


def reached(goal: Goal, trials: list[Trial]) -> float:
    """What counts: the mean or the worst."""
    values = [trial[goal.figure] for trial in trials]
    return sum(values) / len(values) if goal.mean else max(values)


def met(goal: Goal, trials: list[Trial]) -> bool:
    """Whether the goal is met."""
    return reached(goal, trials) <= goal.limit


Row = dict[str, Any]


def row_of(goal: Goal, trials: list[Trial]) -> Row:
    """One line as it is published."""
    values = [trial[goal.figure] for trial in trials]
    return {
        **dataclasses.asdict(goal),
        "mean": sum(values) / len(values),
        "least": min(values),
        "most": max(values),
        "trials": len(values),
        "judged_by": "mean" if goal.mean else "worst trial",
        "met": met(goal, trials),
    }


def rows_of(found: dict[str, list[Trial]], published: list[Row]) -> list[Row]:
    """A line for every goal: as measured now, or as published before where it was not."""
    before = {(row["piece"], row["figure"]): row for row in published}
    rows = []
    for goal in GOALS:
        if measured(goal, found):
            rows.append(row_of(goal, found[goal.piece]))
        elif (goal.piece, goal.figure) in before:
            rows.append(before[goal.piece, goal.figure])
    return rows


def table(rows: list[Row]) -> str:
    """Markdown: what, the goal, ours with spread, whether it is met."""
    lines = ["| piece | figure | goal | ours | least to most, trials | met |", "|---|---|---|---|---|---|"]
    for row in rows:
        spread = f"{_short(row['least'])} to {_short(row['most'])}, {row['trials']}"
        ours = _short(row["mean"] if row["judged_by"] == "mean" else row["most"])
        mark = "yes" if row["met"] else "**no**"
        lines.append(f"| {row['piece']} | {row['words']} | {row['limit']:g} | {ours} | {spread} | {mark} |")
    return "\n".join(lines)


def _short(value: float) -> str:
    return f"{value:.4g}" if abs(value) >= 1e-4 else "0" if abs(value) < 1e-9 else f"{value:.1e}"


def publish(found: dict[str, list[Trial]]) -> None:
    """The limits file, and the table between its marks in docs/benchmarks-planners.md."""
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    rows = rows_of(found, json.loads(LIMITS.read_text(encoding="utf-8"))["goals"] if LIMITS.exists() else [])
    LIMITS.write_text(json.dumps({"machine": machine, "goals": rows}, indent=1) + "\n", encoding="utf-8")
    page = PAGE / "benchmarks-planners.md"
    text = page.read_text(encoding="utf-8")
    before, rest = text.split(BEGIN)
    page.write_text(f"{before}{BEGIN}\n{table(rows)}\n{END}{rest.split(END)[1]}", encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
