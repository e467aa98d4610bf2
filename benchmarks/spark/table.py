"""The comparison's table and limits, from the runs that were recorded."""

from __future__ import annotations

import json
import pathlib
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from cases import empty_of
from shifts import Shift, after_shifts

RUNS = "spark_compare.jsonl"
OURS, OTHERS = "streamjob", ("auto",)
"""Sides of StreamJob: that with the planner that is the default, and those with another one."""
SETTLED = 8  # newest batches of a run that are looked at apart
ADAPTED = 6  # batches after a shift of the skew that count as adapting, not as adapted

Run = Mapping[str, object]
Sides = dict[str, dict[int, Run]]  # system -> round -> run


def by_case(runs: Iterable[Run], ours: str = OURS) -> dict[str, Sides]:
    """Runs by case, those of vanilla Spark and ours, as OURS; only rounds that both have finished."""
    found: dict[str, Sides] = defaultdict(lambda: defaultdict(dict))
    for one in runs:
        if one["system"] in ("vanilla", ours):
            side = OURS if one["system"] == ours else "vanilla"
            found[str(one["case"])][side][int(str(one["round"]))] = one
    for sides in found.values():
        both = sides["vanilla"].keys() & sides[OURS].keys()
        for system in list(sides):
            sides[system] = {turn: sides[system][turn] for turn in sorted(both)}
    return {name: sides for name, sides in found.items() if sides["vanilla"]}


def measured(run: Run, *, adapted: bool = False) -> np.ndarray:
    """Milliseconds of the measured batches; `adapted` leaves out the first batches after each shift."""
    durations_ms, skip = np.array(run["durations_ms"], dtype=float), int(str(run["skip"]))
    at = np.arange(len(durations_ms))
    kept = at >= skip
    if adapted:
        kept &= at % int(str(run["phase"])) >= ADAPTED
    return durations_ms[kept]


def makespan_ms(run: Run) -> float:
    """Mean over the measured batches of the makespan bound."""
    return float(np.mean(np.array(run["makespan_ms"], dtype=float)[int(str(run["skip"])) :]))


PLACED = ("placed_over_bound", "placed_with_own")
"""Work under each placement over its bound: the true one alone, and with what Spark itself does for a task."""


def placed(run: Run, which: str) -> list[float]:
    """One of PLACED after the first batches; empty where the run does not tell it."""
    told: list[tuple[float, float]] = run.get(which) or []  # type: ignore[assignment]
    return [over for at_s, over in told if at_s >= float(str(run["warm_at_s"]))]


def ratios(sides: Sides, quantile: float, *, adapted: bool = False) -> list[float]:
    """Ours over theirs at a quantile (percent), one for each round."""
    return [
        float(
            np.percentile(measured(ours, adapted=adapted), quantile)
            / np.percentile(measured(sides["vanilla"][turn], adapted=adapted), quantile)
        )
        for turn, ours in sides["streamjob"].items()
    ]


def speeds(sides: Sides) -> list[float]:
    """Our batches per second over theirs, one for each round."""
    return [
        float(measured(sides["vanilla"][turn]).mean() / measured(ours).mean())
        for turn, ours in sides["streamjob"].items()
    ]


def figure(values: list[float]) -> dict[str, float]:
    """Mean, spread (largest minus smallest) and number of trials."""
    return {
        "mean": round(statistics.fmean(values), 3),
        "spread": round(max(values) - min(values), 3),
        "trials": len(values),
    }


def told_figure(value: Mapping[str, float], digits: int = 2) -> str:
    """Mean and half the spread; one trial has no spread."""
    half = f" (±{value['spread'] / 2:.{digits}f})" if value["trials"] > 1 else ""
    return f"{value['mean']:.{digits}f}{half}"


def row(name: str, sides: Sides, fixed_ms: float | None) -> dict[str, object]:
    """All figures of a case; `fixed_ms` is the median batch of the same job without work."""
    pooled = {system: np.concatenate([measured(one) for one in turns.values()]) for system, turns in sides.items()}
    bound_ms = makespan_ms(next(iter(sides["streamjob"].values())))
    ours = [measured(one) for one in sides["streamjob"].values()]
    found: dict[str, object] = {
        "case": name,
        "makespan_bound_ms": round(bound_ms),
        **{
            f"{system}_p{quantile}_ms": round(float(np.percentile(pooled[system], quantile)))
            for system in sorted(pooled)
            for quantile in (50, 95)
        },
        "p50_ratio": figure(ratios(sides, 50)),
        "p95_ratio": figure(ratios(sides, 95)),
        "throughput_ratio": figure(speeds(sides)),
    }
    for which in PLACED:
        overs = [over for one in sides["streamjob"].values() if (over := placed(one, which))]
        if overs:
            found[which] = figure([statistics.median(one) for one in overs])
            found[f"{which}_at_end"] = figure([one[-1] for one in overs])
    if name.startswith(("shifting", "seldom")):
        found["p95_ratio_adapted"] = figure(ratios(sides, 95, adapted=True))
    if fixed_ms is not None and bound_ms > 0 and name.endswith("-wait"):  # what a loop takes is not known as exactly
        reach_ms = bound_ms + fixed_ms
        found["fixed_ms"] = round(fixed_ms)
        found["p50_over_bound_and_fixed"] = figure([float(np.percentile(one, 50)) / reach_ms for one in ours])
        found["p95_over_bound_and_fixed"] = figure([float(np.percentile(one, 95)) / reach_ms for one in ours])
        found.update(shift_figures(sides["streamjob"].values(), fixed_ms) if name.startswith("seldom") else {})
        for quantile in (50, 95):  # once plans have come to rest
            settled = [float(np.percentile(one[-SETTLED:], quantile)) / reach_ms for one in ours]
            found[f"p{quantile}_settled_over_bound_and_fixed"] = figure(settled)
    return found


def shift_figures(runs: Iterable[Run], fixed_ms: float) -> dict[str, object]:
    """Slow batches after each shift, and batches from it to balanced again: median and worst over runs and shifts."""
    found = [one for run in runs for one in shifts_of(run, fixed_ms)]
    slow, until = [one.slow for one in found], [one.until_balanced for one in found]
    balanced = [one for one in until if one is not None]
    return {
        "shifts": len(found),
        "slow_after_shift": {"median": statistics.median(slow), "worst": max(slow)},
        "until_balanced": {
            "median": statistics.median(balanced) if balanced else None,
            "worst": max(balanced) if len(balanced) == len(found) else None,
        },
    }


def shifts_of(run: Run, fixed_ms: float) -> list[Shift]:
    """What followed each shift of a run."""
    durations_ms, makespan = np.array(run["durations_ms"], dtype=float), np.array(run["makespan_ms"], dtype=float)
    return after_shifts(durations_ms.tolist(), int(str(run["phase"])), (makespan + fixed_ms).tolist())


def fixed_cost_ms(runs: Iterable[Run], name: str) -> float | None:
    """Median batch of vanilla Spark on the same job without work, None while it was not run."""
    empty = [measured(one) for one in runs if (one["case"], one["system"]) == (empty_of(name), "vanilla")]
    return float(np.median(np.concatenate(empty))) if empty else None


def read_runs(path: pathlib.Path) -> list[dict[str, object]]:
    """Every finished run of a file, none when there is no file."""
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def rows_of(out: pathlib.Path) -> list[dict[str, object]]:
    """The figures of every case that was run."""
    runs = read_runs(out / RUNS)
    rows = [row(name, sides, fixed_cost_ms(runs, name)) for name, sides in by_case(runs).items()]
    for other in OTHERS:
        found = by_case(runs, other).items()
        rows += [{**row(name, sides, fixed_cost_ms(runs, name)), "case": f"{name}, {other}"} for name, sides in found]
    return rows


def print_report(rows: list[dict[str, object]]) -> None:
    """The table in Markdown."""
    heads = ("case", "vanilla p50 / p95 ms", "StreamJob p50 / p95 ms", "p50 ratio", "p95 ratio", "throughput")
    heads += (
        "placement over bound",
        "with Spark's own seconds",
        "bound + fixed ms",
        "p50, p95 over it",
        "last 8",
        "rounds",
    )
    print(f"| {' | '.join(heads)} |\n{'|---' * len(heads)}|")
    for one in rows:
        print(line(one), flush=True)


def line(one: Mapping[str, object]) -> str:
    """One row of the table."""

    def told(name: str) -> str:
        value = one.get(name)
        return told_figure(value) if isinstance(value, dict) else ""

    def both(name: str) -> str:
        return ", ".join(filter(None, (told(f"p{quantile}_{name}") for quantile in (50, 95))))

    reach = f"{one['makespan_bound_ms']} + {one['fixed_ms']}" if "fixed_ms" in one else f"{one['makespan_bound_ms']}"
    trials = one["p95_ratio"]["trials"] if isinstance(one["p95_ratio"], dict) else 0
    return (
        f"| {one['case']} | {one['vanilla_p50_ms']} / {one['vanilla_p95_ms']}"
        f" | {one['streamjob_p50_ms']} / {one['streamjob_p95_ms']}"
        f" | {told('p50_ratio')} | {told('p95_ratio')} | {told('throughput_ratio')}x"
        f" | {told('placed_over_bound')} | {told('placed_with_own')} | {reach} | {both('over_bound_and_fixed')}"
        f" | {both('settled_over_bound_and_fixed')} | {trials} |"
    )
