"""Predicted beside measured batches, as StreamJob's own controller compared them while the job ran.

    python benchmarks/spark/predictions.py [--out out/benchmarks]

Read from the runs that `compare.py` has recorded: nothing is predicted here.
"""

from __future__ import annotations

import datetime
import pathlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from cases import make_case
from report import report
from table import RUNS, Run, figure, read_runs

from streamjob_operator.digest import digest
from streamjob_operator.history import read_history
from streamjob_operator.series import joined
from streamjob_operator.values import CycleRecord

JOBS = ("skewed-wait", "two-wait", "three-wait", "join-wait", "pairs-wait", "straggler-wait", "many-wait")


def windows_of(history: pathlib.Path) -> list[dict[str, Any]]:
    """What the controller told of each window that taught it something, oldest first."""
    windows = (_window(record) for record in read_history(history).cycles)
    return list({one["ends_at_s"]: one for one in windows if one is not None}.values())  # some cycles see no new one


def _window(record: CycleRecord) -> dict[str, Any] | None:
    batch, snapshot, memory = digest(record).batch, record.snapshot, record.memory
    if batch is None or batch.predicted_s is None or snapshot is None or memory is None:
        return None
    fixed = memory.batches.fixed_s
    return {
        "begins_at_s": snapshot.taken_at_s - snapshot.window_s,
        "ends_at_s": snapshot.taken_at_s,
        "batches": snapshot.rates.batches,
        "measured_s": batch.measured_s,
        "predicted_s": batch.predicted_s,
        "fixed_s": None if fixed is None else fixed.mean,
        "fixed_error_s": None if fixed is None else fixed.error,
        "spread_s": [stage.spread_s for stage in snapshot.stages if stage.spread_s is not None],
    }


def singles_of(history: pathlib.Path) -> list[tuple[float, float, float]]:
    """End, measured and predicted seconds of every batch that the controller predicted by itself, oldest first."""
    told = joined(one.batch_times for one in read_history(history).cycles if one.batch_times is not None)
    if told is None:
        return []
    columns = (told.ended_at_s.tolist(), told.measured_s.tolist(), told.predicted_s.tolist())
    return list(zip(*columns, strict=True))


def began_at_s(progress: Mapping[str, Any]) -> float:
    """When a batch began, seconds since the epoch."""
    return datetime.datetime.fromisoformat(str(progress["timestamp"])).timestamp()


def warm(run: Run) -> list[dict[str, Any]]:
    """The windows of a run after its first batches."""
    windows: list[dict[str, Any]] = run.get("windows") or []  # type: ignore[assignment]
    return [one for one in windows if one["begins_at_s"] >= float(str(run["warm_at_s"]))]


def single_errors_pct(run: Run) -> list[float]:
    """|predicted / measured - 1| of the single batches of a run that began after its first ones; none in older runs."""
    singles: list[tuple[float, float, float]] = run.get("singles") or []  # type: ignore[assignment]
    warm_at_s = float(str(run["warm_at_s"]))
    return [100.0 * abs(told_s / took_s - 1.0) for at_s, took_s, told_s in singles if at_s - took_s >= warm_at_s]


def rows_of(out: pathlib.Path) -> list[dict[str, object]]:
    """A row for each job that was run under StreamJob."""
    runs = [one for one in read_runs(out / RUNS) if one["system"] == "streamjob"]
    found = ((name, [one for one in runs if one["case"] == name]) for name in JOBS)
    return [row(name, mine) for name, mine in found if any(warm(one) for one in mine)]


def row(name: str, runs: Sequence[Run]) -> dict[str, object]:
    """Figures of one job; its error is |predicted / measured - 1|, of each run one median and one p90."""
    case = make_case(name)
    by_run = [warm(one) for one in runs if warm(one)]
    windows = [one for found in by_run for one in found]
    errors = [_errors_pct(found) for found in by_run]
    pooled = np.concatenate(errors)
    singles = [one for run in runs for one in single_errors_pct(run)]
    return {
        "case": name,
        "stages": len(case.levels),
        "executors": case.executors,
        "slots": case.cores,
        "windows": len(windows),
        "batches": sum(one["batches"] for one in windows),
        "measured_ms": round(1000 * float(np.median([one["measured_s"] for one in windows]))),
        "error_p50_pct": round(float(np.median(pooled)), 1),
        "error_p90_pct": round(float(np.percentile(pooled, 90)), 1),
        "singles": len(singles),
        "single_p50_pct": round(float(np.median(singles)), 1) if singles else None,
        "single_p90_pct": round(float(np.percentile(singles, 90)), 1) if singles else None,
        "error_p50_pct_by_run": figure([float(np.median(one)) for one in errors]),
        "signed_p50_pct": round(float(np.median(np.concatenate([_signed_pct(one) for one in by_run]))), 1),
        "fixed_ms": round(1000 * by_run[-1][-1]["fixed_s"]),
        "fixed_error_ms": _ms(by_run[-1][-1]["fixed_error_s"]),
        "spread_ms": _quartiles_ms(windows),
    }


def _signed_pct(windows: Iterable[Mapping[str, Any]]) -> np.ndarray:
    return np.array([100.0 * (one["predicted_s"] / one["measured_s"] - 1.0) for one in windows])


def _errors_pct(windows: Iterable[Mapping[str, Any]]) -> np.ndarray:
    return np.abs(_signed_pct(windows))


def _ms(seconds: float | None) -> int | None:
    return None if seconds is None else round(1000 * seconds)


def _quartiles_ms(windows: Iterable[Mapping[str, Any]]) -> list[int]:
    """Lower quartile, median and upper quartile of a key group's spread over windows and stages; none when unknown."""
    spreads = [1000.0 * value for one in windows for value in one["spread_s"]]
    return [round(float(one)) for one in np.percentile(spreads, (25, 50, 75))] if spreads else []


def lines(rows: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """The table in Markdown."""
    heads = ("job", "stateful stages", "executors x slots", "windows (batches)", "batch s", "error p50 %", "p90 %")
    heads += ("single batches", "error p50 %", "p90 %", "fixed s", "spread ms")
    yield f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|"
    for one in rows:
        error_ms, spread = one["fixed_error_ms"], one["spread_ms"]
        within = "" if error_ms is None else f" ± {error_ms / 1000:.2f}"
        spreads = f"{spread[1]} ({spread[0]} to {spread[2]})" if spread else ""
        where = f"{one['executors']} x {one['slots']}"
        single = " | | "
        if one["singles"]:
            single = f"{one['singles']} | {one['single_p50_pct']:.1f} | {one['single_p90_pct']:.1f}"
        yield (
            f"| {one['case']} | {one['stages']} | {where} | {one['windows']} ({one['batches']})"
            f" | {one['measured_ms'] / 1000:.2f} | {one['error_p50_pct']:.1f} | {one['error_p90_pct']:.1f}"
            f" | {single} | {one['fixed_ms'] / 1000:.2f}{within} | {spreads} |"
        )


def print_report(rows: Iterable[Mapping[str, Any]]) -> None:
    """The table."""
    for line in lines(rows):
        print(line, flush=True)


if __name__ == "__main__":
    report(__doc__, rows_of, print_report)
