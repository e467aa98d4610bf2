"""What an executor that is three times as slow for a while costs, and how many batches pass until the others help.

    python benchmarks/spark/slow.py [--out out/benchmarks]

Read from the runs that `compare.py` has recorded. A batch is within reach where it takes at most a tenth more than
its bound and the fixed part, which is what the run's own newest batches before the slow ones took beyond their bound.
"""

from __future__ import annotations

import pathlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from cases import UNEVEN
from report import report
from shifts import first_rest
from table import RUNS, Run, figure, read_runs, told_figure
from workload import Slow

WITHIN = 1.1
BEFORE = 8
"""Batches before the slow ones from which the fixed part is taken."""

CASES = {name: case.slow for name, case in UNEVEN.items() if case.slow is not None}


def rows_of(out: pathlib.Path) -> list[dict[str, object]]:
    """A row for each case and side that was run."""
    runs = read_runs(out / RUNS)
    found = {(str(one["case"]), str(one["system"])): None for one in runs if one["case"] in CASES}
    return [row(*which, [one for one in runs if (one["case"], one["system"]) == which]) for which in found]


def row(name: str, system: str, runs: Sequence[Run]) -> dict[str, object]:
    """Figures of one side of a case, one value for each run."""
    slow = CASES[name]
    reach = [over_reach(one, slow) for one in runs]
    parts = {"slow": slice(slow.first, slow.end), "well": slice(slow.end, None)}
    found: dict[str, object] = {"case": name, "system": system, "times": slow.times, "rounds": len(runs)}
    for part, batches in parts.items():
        found[f"{part}_until_within"] = [first_rest((one[batches] > WITHIN).tolist()) for one in reach]
        found[f"{part}_beyond"] = [int((one[batches] > WITHIN).sum()) for one in reach]
        found[f"{part}_over_reach"] = figure([float(np.median(one[batches])) for one in reach])
        found[f"{part}_over_reach_at_end"] = figure([float(np.median(one[batches][-BEFORE:])) for one in reach])
    found["known_after"] = [known_after(one, slow) for one in runs]
    found["trusted_after"] = [trusted_after(one, slow) for one in runs]
    return found


def over_reach(run: Run, slow: Slow) -> np.ndarray:
    """Each batch over its bound and the fixed part."""
    took_ms, bound_ms = (np.array(run[name], dtype=float) for name in ("durations_ms", "makespan_ms"))
    before = slice(slow.first - BEFORE, slow.first)
    fixed_ms = float(np.median(took_ms[before] - bound_ms[before]))
    return np.asarray(took_ms / (bound_ms + fixed_ms))


def known_after(run: Run, slow: Slow) -> int | None:
    """Slow batches that had ended when a cycle first planned for a slow executor; None where none did."""
    return next((at - slow.first for at, speeds in _known(run) if at >= slow.first and slow.executor in speeds), None)


def trusted_after(run: Run, slow: Slow) -> int | None:
    """Batches after the slow ones that had ended when it counted as one of the others again; None: never."""
    return next((at - slow.end for at, speeds in _known(run) if at > slow.end and slow.executor not in speeds), None)


def _known(run: Run) -> Iterable[tuple[int, Mapping[str, float]]]:
    """Of each cycle: batches that had ended, and the speeds that it planned with."""
    began_at_s = np.array(run["began_at_s"], dtype=float)
    cycles: list[dict[str, Any]] = run["cycles"]  # type: ignore[assignment]
    return [(int((began_at_s <= one["at_s"]).sum()) - 1, one["speeds"]) for one in cycles]


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterable[str]:
    """The table in Markdown."""
    heads = (
        "case",
        "side",
        "known after",
        "batches until within a tenth",
        "beyond it",
        "median over the reach, at the end",
    )
    heads += ("trusted after", "until within a tenth again", "beyond it", "at the end")
    yield f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|"
    for one in rows:
        cells = [one["case"], one["system"], _told(one["known_after"]), _told(one["slow_until_within"])]
        cells += [_told(one["slow_beyond"])]
        cells += [f"{told_figure(one['slow_over_reach'])}, {told_figure(one['slow_over_reach_at_end'])}"]
        cells += [_told(one["trusted_after"]), _told(one["well_until_within"]), _told(one["well_beyond"])]
        cells += [told_figure(one["well_over_reach_at_end"])]
        yield f"| {' | '.join(cells)} |"


def _told(values: Iterable[int | None]) -> str:
    return ", ".join("never" if one is None else str(one) for one in values)


def print_report(rows: Iterable[Mapping[str, Any]]) -> None:
    """The table."""
    for line in lines(rows):
        print(line, flush=True)


if __name__ == "__main__":
    report(__doc__, rows_of, print_report)
