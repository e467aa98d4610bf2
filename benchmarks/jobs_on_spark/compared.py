"""Systems beside plain Spark, from the runs that were kept: rounds are held against the same round of plain Spark."""

from __future__ import annotations

import dataclasses
import statistics
from collections.abc import Iterable, Mapping, Sequence

import numpy as np
from benchmarks.jobs_on_spark import systems
from benchmarks.jobs_on_spark.piece import Amounts, Line, of
from benchmarks.jobs_on_spark.systems import NAMES, VANILLA

LEAST_NOISE = 0.05
"""Ratios that are nearer to 1 than this are never called a difference."""
FASTER, SLOWER, SAME, ONE_ROUND = VERDICTS = ("faster", "slower", "no difference", "one round")
SPENT = ("cpu_s", "task_cpu_s", "remote_mb", "local_mb", "executor_h")
"""Figures per million rows."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Mean over rounds, largest minus smallest, and how many rounds."""

    mean: float
    spread: float
    trials: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A job under a system.

    `p50_s`, `p95_s` and `p99_s` are of the batches of all rounds together; `ratios` are the system's figure over plain
    Spark's, of rounds that both have, by the figure's name; None for plain Spark itself and without such a round.
    `staying_ratio` and `controller_cpu_s`, CPU seconds of StreamJob's controller per million rows, are None where they
    were not looked at yet, the latter for plain Spark, too.
    """

    job: str
    shape: str
    system: str
    amounts: Amounts
    rounds: int
    exact: int
    p50_s: float
    p95_s: float
    p99_s: float
    rate_rps: Figure
    spent: Mapping[str, Figure]
    controller_cpu_s: Figure | None
    moves: Figure
    early_moves: Figure
    moved_rows: Figure
    stateful_ratio: Figure
    reachable_ratio: Figure
    staying_ratio: Figure | None
    others_ratio: Figure
    loop_s: Figure
    ratios: Mapping[str, Figure] | None


def rows(lines: Iterable[Line]) -> list[Row]:
    """A row for each job, shape, amounts and system; jobs in the order of their first run, systems in theirs."""
    found: dict[tuple[str, str, Amounts], dict[str, dict[int, Line]]] = {}
    for line in lines:
        piece = of(line)
        sides = found.setdefault((piece.job, piece.shape, piece.amounts), {})
        sides.setdefault(piece.system, {})[piece.round] = line
    return [
        _row(sides[system], sides.get(VANILLA, {}))
        for sides in found.values()
        for system in sorted(sides, key=NAMES.index)
    ]


def figure(values: Sequence[float]) -> Figure:
    """Of at least one value."""
    return Figure(mean=statistics.fmean(values), spread=max(values) - min(values), trials=len(values))


def noise(plain: Row) -> float:
    """By how much plain Spark differs from itself: half of what its rate varies by from round to round, as a share."""
    return max(LEAST_NOISE, 0.5 * plain.rate_rps.spread / plain.rate_rps.mean)


def verdict(row: Row, plain: Row | None, name: str = "p50") -> str:
    """What the ratio of batch seconds says: faster or slower only where every round says so, beyond the noise."""
    if row.ratios is None or plain is None:
        return ""
    if row.ratios[name].trials == 1:
        return ONE_ROUND
    ratio, least = row.ratios[name], noise(plain)
    # One round may lie this far from the mean: where all others lie at the other end.
    apart = ratio.spread * (ratio.trials - 1) / ratio.trials
    if ratio.mean + apart < 1.0 - least:
        return FASTER
    return SLOWER if ratio.mean - apart > 1.0 + least else SAME


def _row(rounds: Mapping[int, Line], plain: Mapping[int, Line]) -> Row:
    some = [rounds[turn] for turn in sorted(rounds)]
    piece = of(some[0])
    p50_s, p95_s, p99_s = np.percentile(np.concatenate([line["batch_s"] for line in some]), (50, 95, 99))

    def told(name: str) -> Figure:
        return figure([float(line[name]) for line in some])

    return Row(
        job=piece.job,
        shape=piece.shape,
        system=piece.system,
        amounts=piece.amounts,
        rounds=len(some),
        exact=sum(not line["differences"] for line in some),
        p50_s=float(p50_s),
        p95_s=float(p95_s),
        p99_s=float(p99_s),
        rate_rps=told("rate_rps"),
        spent={name: told(name) for name in SPENT},
        controller_cpu_s=told("first_cpu_s") if systems.named(piece.system).ours else None,
        moves=told("moves"),
        early_moves=told("early_moves"),
        moved_rows=told("moved_rows"),
        stateful_ratio=told("stateful_ratio"),
        reachable_ratio=told("reachable_ratio"),
        staying_ratio=told("staying_ratio"),
        others_ratio=told("others_ratio"),
        loop_s=figure([seconds for line in some for seconds in line["loop_s"]]),
        ratios=None if piece.system == VANILLA else _ratios(rounds, plain),
    )


def _ratios(rounds: Mapping[int, Line], plain: Mapping[int, Line]) -> Mapping[str, Figure] | None:
    pairs = [(rounds[turn], plain[turn]) for turn in sorted(rounds.keys() & plain.keys())]
    if not pairs:
        return None
    found = {
        f"p{quantile}": figure([_quantile(ours, quantile) / _quantile(theirs, quantile) for ours, theirs in pairs])
        for quantile in (50, 95, 99)
    }
    for name in ("rate_rps", *SPENT):
        if all(theirs[name] > 0 for _, theirs in pairs):
            found[name] = figure([ours[name] / theirs[name] for ours, theirs in pairs])
    return found


def _quantile(line: Line, quantile: int) -> float:
    return float(np.percentile(line["batch_s"], quantile))
