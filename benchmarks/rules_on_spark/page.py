"""Runs as sentences, as a table for docs/, and as limits."""

from __future__ import annotations

import json
import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

PICTURE = pathlib.Path("docs/pictures/rules-on-spark.png")
PAGE, LIMITS = pathlib.Path("docs/rules-on-spark.md"), pathlib.Path("benchmarks/limits/rules_on_spark.json")
BEGIN, END = "<!-- runs -->", "<!-- end of runs -->"
Line = Mapping[str, Any]
"""A kept run."""
HEAD = (
    "trace",
    "system",
    "runs",
    "executor-minutes (foretold)",
    "late rows, % (foretold)",
    "age p50 / p99, s (foretold)",
    "executors, least to most",
    "came / went",
    "exact",
)


def sentence(line: Line) -> str:
    """One run for a person who watches."""
    exact = "exact" if not line["differences"] else f"NOT exact: {line['differences'][0]}"
    return (
        f"{line['trace']} {line['system']} seed {line['seed']}: {exact}, "
        f"{line['executor_s'] / 60:.1f} executor-minutes, "
        f"{100 * line['late_rows']:.1f} % of rows late, age {line['age_p50_s']:.1f} / {line['age_p99_s']:.1f} s, "
        f"{line['least']} to {line['most']} executors, {line['came']} came and {line['went']} went"
    )


def table(lines: Sequence[Line]) -> str:
    """Markdown: a row for each trace and system, means over seeds."""
    rows = ["| " + " | ".join(HEAD) + " |", "|" + "---|" * len(HEAD)]
    for trace, system in dict.fromkeys((one["trace"], one["system"]) for one in lines):
        some = [one for one in lines if (one["trace"], one["system"]) == (trace, system)]
        rows.append("| " + " | ".join(_cells(trace, system, some)) + " |")
    return "\n".join(rows)


def _cells(trace: str, system: str, some: Sequence[Line]) -> list[str]:
    told = [each for one in some for each in one["foretold"]]
    wrong = sum(bool(one["differences"]) for one in some)
    return [
        f"`{trace}`",
        f"`{system}`",
        str(len(some)),
        f"{_mean(some, 'executor_s') / 60:.1f} ({_about(told, 'executor_s', 1 / 60)})",
        f"{100 * _mean(some, 'late_rows'):.1f} ({_about(told, 'late_rows', 100)})",
        f"{_mean(some, 'age_p50_s'):.1f} / {_mean(some, 'age_p99_s'):.1f} "
        f"({_mean(told, 'age_p50_s'):.1f} / {_mean(told, 'age_p99_s'):.1f})",
        f"{min(one['least'] for one in some)} to {max(one['most'] for one in some)}",
        f"{_mean(some, 'came'):.0f} / {_mean(some, 'went'):.0f}",
        "yes" if not wrong else f"{wrong} of {len(some)} not",
    ]


def _mean(some: Sequence[Line], name: str) -> float:
    return float(np.mean([one[name] for one in some]))


def _about(some: Sequence[Line], name: str, times: float) -> str:
    """Mean and what single ones differ from it by."""
    found = _spread([times * one[name] for one in some])
    return f"{found['mean']:.1f} ± {found['spread']:.1f}"


def document(lines: Sequence[Line]) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Trace -> system -> figure -> mean, spread and trials."""
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for trace, system in dict.fromkeys((one["trace"], one["system"]) for one in lines):
        some = [one for one in lines if (one["trace"], one["system"]) == (trace, system)]
        names = ("executor_s", "late_rows", "age_p50_s", "age_p99_s", "batch_p50_s")
        found.setdefault(trace, {})[system] = {name: _spread([one[name] for one in some]) for name in names}
    return found


def _spread(values: Sequence[float]) -> dict[str, float]:
    spread = float(np.std(values, ddof=1)) if len(values) > 1 else 0.0
    return {"mean": round(float(np.mean(values)), 4), "spread": round(spread, 4), "trials": float(len(values))}


def publish(lines: Sequence[Line]) -> None:
    """Write the table into the page and the limits beside the others."""
    text = PAGE.read_text(encoding="utf-8")
    before, after = text[: text.index(BEGIN) + len(BEGIN)], text[text.index(END) :]
    PAGE.write_text(f"{before}\n{table(lines)}\n{after}", encoding="utf-8")
    LIMITS.write_text(json.dumps(document(lines), indent=1) + "\n", encoding="utf-8")
