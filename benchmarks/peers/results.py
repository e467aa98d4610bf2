"""What was measured: kept in out/peers/results.json, shown as a table and a picture, published as limits."""

from __future__ import annotations

import dataclasses
import json
import math
import os
import platform
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
from matplotlib import pyplot as plt

FOLDER, LIMITS = Path("out/peers"), Path("benchmarks/limits/peers.json")
PAGE, BEGIN, END = Path("docs/benchmarks-planners.md"), "<!-- peers -->", "<!-- end of peers -->"
OURS, RIVAL = "search", "rebalancer"
LEAST_SHOWN = 1e-4
"""The picture's smallest gap, points; a gap of 0 has no place on a logarithmic axis."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """One answer. Times are None in the file where a peer was killed before it said them."""

    load_distance: float
    bound: float
    solve_s: float
    build_s: float
    moves: int
    note: str

    @property
    def gap(self) -> float:
        """Percent points above the proven bound."""
        return max(0.0, self.load_distance - self.bound)

    def __str__(self) -> str:
        return (
            f"d {self.load_distance:9.4f}  gap {self.gap:9.4f}  {self.solve_s:6.2f} s  {self.moves} moves  {self.note}"
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Result:
    """One solver at one size and deadline."""

    size: str
    deadline_s: float
    solver: str
    trials: tuple[Trial, ...]

    @property
    def mean_gap(self) -> float:
        """Mean gap over the trials."""
        return sum(trial.gap for trial in self.trials) / len(self.trials)


def collect(made: Iterable[Result]) -> None:
    """Put results in place of older ones of the same size, deadline and solver."""
    kept = {(one.size, one.deadline_s, one.solver): one for one in (*read(), *made)}
    FOLDER.mkdir(parents=True, exist_ok=True)
    text = json.dumps([_plain(one) for one in kept.values()], indent=1, allow_nan=False)
    (FOLDER / "results.json").write_text(text + "\n", encoding="utf-8")


def read() -> list[Result]:
    """Everything collected, by size, deadline and solver."""
    path = FOLDER / "results.json"
    if not path.exists():
        return []
    found = [_result(one) for one in json.loads(path.read_text(encoding="utf-8"))]
    return sorted(found, key=lambda one: (_nodes(one.size), one.deadline_s, one.solver != OURS, one.solver))


def _nodes(size: str) -> int:
    first = size.split(" ", maxsplit=1)[0].replace(",", "")
    return int(first) if first.isdigit() else 0


def _plain(result: Result) -> dict[str, Any]:
    def clean(value: Any) -> Any:
        return None if isinstance(value, float) and math.isnan(value) else value

    trials = [{name: clean(value) for name, value in dataclasses.asdict(one).items()} for one in result.trials]
    return {**dataclasses.asdict(result), "trials": trials}


def _result(document: dict[str, Any]) -> Result:
    trials = tuple(
        Trial(**{name: math.nan if value is None else value for name, value in one.items()})
        for one in document["trials"]
    )
    return Result(**{**document, "trials": trials})


def table() -> str:
    """One line for each size, deadline and solver."""
    lines = [f"{'size':26} {'deadline':>8}  {'solver':11} {'mean gap':>10} {'least':>10} {'most':>10}  notes"]
    for one in read():
        gaps = [trial.gap for trial in one.trials]
        notes = sorted({trial.note for trial in one.trials if trial.note})
        lines.append(
            f"{one.size:26} {one.deadline_s:6g} s  {one.solver:11} {one.mean_gap:10.4f} {min(gaps):10.4f} "
            f"{max(gaps):10.4f}  {'; '.join(notes)}"
        )
    return "\n".join(lines)


def verdict() -> tuple[bool, str]:
    """Whether we are ahead of the Rebalancer at every size and deadline, and where not."""
    by_key = {(one.size, one.deadline_s, one.solver): one for one in read()}
    pairs = [(one, by_key.get((one.size, one.deadline_s, RIVAL))) for one in by_key.values() if one.solver == OURS]
    behind = [f"{a.size} at {a.deadline_s:g} s" for a, b in pairs if b is not None and a.mean_gap >= b.mean_gap]
    compared = sum(b is not None for _, b in pairs)
    if behind:
        return False, f"Not ahead of the Rebalancer: {'; '.join(behind)}."
    return True, f"Ahead of the Rebalancer in all {compared} comparisons of size and deadline."


def draw() -> None:
    """One panel for each size: mean gap over the deadline."""
    results = read()
    sizes = list(dict.fromkeys(one.size for one in results))
    if not sizes:
        return
    figure, axes = plt.subplots(1, len(sizes), figsize=(4.6 * len(sizes), 4.0), squeeze=False, layout="constrained")
    for axis, size in zip(axes[0], sizes, strict=True):
        for solver in dict.fromkeys(one.solver for one in results):
            mine = [one for one in results if one.size == size and one.solver == solver]
            gaps = [max(one.mean_gap, LEAST_SHOWN) for one in mine]
            axis.plot([one.deadline_s for one in mine], gaps, marker="o", label=solver)
        axis.set(title=size, xlabel="deadline, s", xscale="log", yscale="log")
        axis.grid(alpha=0.3)
    axes[0][0].set_ylabel("gap to the proven bound, points")
    axes[0][0].legend()
    figure.savefig(FOLDER / "peers.png", dpi=110)
    plt.close(figure)
    print(f"wrote {FOLDER / 'peers.png'}")


def publish() -> None:
    """Mean, spread and trials of everything collected into the limits file, and a table into the documentation."""
    rows = [
        {
            "size": one.size,
            "deadline_s": one.deadline_s,
            "solver": one.solver,
            "mean_gap": round(one.mean_gap, 5),
            "least_gap": round(min(trial.gap for trial in one.trials), 5),
            "most_gap": round(max(trial.gap for trial in one.trials), 5),
            "trials": len(one.trials),
            "notes": sorted({trial.note for trial in one.trials if trial.note}),
        }
        for one in read()
    ]
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    document = {"unit": "percent points above the proven bound, mean load 50", "machine": machine, "results": rows}
    LIMITS.parent.mkdir(parents=True, exist_ok=True)
    LIMITS.write_text(json.dumps(document, indent=1) + "\n", encoding="utf-8")
    print(f"wrote {LIMITS}")
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    text = f"{before}{BEGIN}\n{markdown()}\n\n{verdict()[1]}\n{END}{rest.split(END)[1]}"
    PAGE.write_text(text, encoding="utf-8")


def markdown() -> str:
    """A line for each size and deadline, a column for each solver: mean gap, and how many trials had no answer."""
    results = read()
    solvers = list(dict.fromkeys(one.solver for one in results))
    lines = [f"| size | deadline | trials | {' | '.join(solvers)} |", "|---" * (3 + len(solvers)) + "|"]
    for size, deadline_s in dict.fromkeys((one.size, one.deadline_s) for one in results):
        row = {one.solver: one for one in results if (one.size, one.deadline_s) == (size, deadline_s)}
        cells = [_cell(row[name]) if name in row else "-" for name in solvers]
        trials = len(next(iter(row.values())).trials)
        lines.append(f"| {size} | {deadline_s:g} s | {trials} | {' | '.join(cells)} |")
    return "\n".join(lines)


def _cell(result: Result) -> str:
    silent = sum(trial.note != "" for trial in result.trials)
    return f"{result.mean_gap:.4f}" + (f" ({silent} without an answer in time)" if silent else "")
