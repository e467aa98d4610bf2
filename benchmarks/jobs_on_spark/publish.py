"""What was measured, for a person: a sentence a run, limits, page and picture."""

from __future__ import annotations

import dataclasses
import datetime
import json
import pathlib
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from benchmarks.jobs_on_spark import compared
from benchmarks.jobs_on_spark.compared import Figure, Row
from benchmarks.jobs_on_spark.page import page
from benchmarks.jobs_on_spark.piece import Amounts, Line, Piece
from benchmarks.jobs_on_spark.systems import NAMES

ROOT = pathlib.Path(__file__).resolve().parents[2]
LIMITS = ROOT / "benchmarks" / "limits" / "jobs_on_spark.json"
PAGE, PICTURE = ROOT / "docs" / "workloads-benefit.md", ROOT / "docs" / "pictures" / "workloads-benefit.png"
DIGITS = 4


def sentence(piece: Piece, line: Line) -> str:
    """One run."""
    p50, p95, p99 = np.percentile(line["batch_s"], (50, 95, 99))
    exact = "exact" if not line["differences"] else f"NOT exact: {'; '.join(line['differences'][:3])}"
    return (
        f"{piece.job} {piece.system} round {piece.round}: {exact}, batches {p50:.2f} / {p95:.2f} / {p99:.2f} s, "
        f"{line['rate_rps']:.0f} rows/s, {line['cpu_s']:.0f} CPU s and {line['remote_mb']:.1f} MB remotely per million "
        f"rows, {line['moves']} moves (+{line['early_moves']}), stages with state {100 * line['stateful_ratio']:.0f} % "
        f"of a batch, {100 * line['reachable_ratio']:.0f} % to be won, others {100 * line['others_ratio']:.0f} %, "
        f"loop {line['loop_s']}, {line['took_s']:.0f} s in all"
    )


def publish(lines: Sequence[Line], day: datetime.date) -> None:
    """Limits, page and picture; rows that were not run again stay as they are."""
    from benchmarks.jobs_on_spark.picture import draw

    rows = merged(read(LIMITS), compared.rows(lines))
    LIMITS.write_text(json.dumps([_plain(dataclasses.asdict(one)) for one in rows], indent=1) + "\n", encoding="utf-8")
    draw(rows, PICTURE)
    PAGE.write_text(page(rows, day, PICTURE.relative_to(PAGE.parent)), encoding="utf-8")


def merged(before: Iterable[Row], found: Iterable[Row]) -> list[Row]:
    """The newest row of each job, shape and system, all systems of one together."""
    rows = {(one.job, one.shape, one.system): one for one in (*before, *found)}
    jobs = list(dict.fromkeys((one.job, one.shape) for one in rows.values()))
    return sorted(rows.values(), key=lambda one: (jobs.index((one.job, one.shape)), NAMES.index(one.system)))


def read(file: pathlib.Path) -> list[Row]:
    """Rows that were written."""
    return [_row(one) for one in json.loads(file.read_text(encoding="utf-8"))] if file.exists() else []


def _row(fields: dict[str, Any]) -> Row:
    ratios = fields["ratios"]
    made = {name: Figure(**value) for name, value in fields.items() if isinstance(value, dict) and "trials" in value}
    many = {
        "amounts": Amounts(**fields["amounts"]),
        "spent": {name: Figure(**value) for name, value in fields["spent"].items()},
        "ratios": None if ratios is None else {name: Figure(**value) for name, value in ratios.items()},
    }
    return Row(**{**fields, **made, **many})


def _plain(value: Any) -> Any:
    """With as many digits as say something."""
    if isinstance(value, dict):
        return {name: _plain(one) for name, one in value.items()}
    return round(value, DIGITS) if isinstance(value, float) else value
