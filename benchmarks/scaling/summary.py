"""From runs to rows of the table: mean and spread over seeds, sums over traces, and each rule against the oracle."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Iterable, Mapping

import numpy as np
from benchmarks.scaling.pieces import Piece

from streamjob_sim.scaling_score import ScalingScore

Scores = Mapping[tuple[str, str], tuple[ScalingScore, ...]]
"""Scores of each seed by (trace, rule)."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """Mean over seeds, and standard deviation; 0 with one seed."""

    mean: float
    spread: float


def gathered(runs: Iterable[tuple[Piece, ScalingScore]]) -> Scores:
    """Runs by trace and rule."""
    found: dict[tuple[str, str], list[ScalingScore]] = defaultdict(list)
    for piece, score in runs:
        found[piece.trace, piece.rule].append(score)
    return {key: tuple(scores) for key, scores in found.items()}


def figure(scores: tuple[ScalingScore, ...], name: str) -> Figure:
    """One figure of all seeds."""
    values = np.array([getattr(score, name) for score in scores], dtype=np.float64)
    return Figure(mean=float(values.mean()), spread=float(values.std(ddof=1)) if values.size > 1 else 0.0)


def document(scores: Scores) -> dict[str, dict[str, dict[str, dict[str, float]]]]:
    """Trace -> rule -> figure -> mean and spread, and how many seeds they are of."""
    found: dict[str, dict[str, dict[str, dict[str, float]]]] = {}
    for (trace, rule), seeds in scores.items():
        names = [one.name for one in dataclasses.fields(ScalingScore)]
        row = {name: {key: round(value, 4) for key, value in _pair(figure(seeds, name))} for name in names}
        found.setdefault(trace, {})[rule] = {"seeds": {"count": float(len(seeds))}, **row}
    return found


def _pair(found: Figure) -> list[tuple[str, float]]:
    return [("mean", found.mean), ("spread", found.spread)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """A rule over all traces that every rule has been on: sums of hours, actions and moves, the mean of shares."""

    rule: str
    executor_h: float
    late_ratio: float
    late_rows_ratio: float
    worst_p99_s: float
    actions: float
    flaps: float
    moves: float


def totals(scores: Scores) -> list[Total]:
    """One row for each rule, the cheapest first; traces that some rule lacks are left out."""
    rules = sorted({rule for _, rule in scores})
    traces = [one for one in sorted({trace for trace, _ in scores}) if all((one, rule) in scores for rule in rules)]
    rows = [_total(rule, [scores[trace, rule] for trace in traces]) for rule in rules if traces]
    return sorted(rows, key=lambda row: row.executor_h)


def _total(rule: str, traces: list[tuple[ScalingScore, ...]]) -> Total:
    def each(name: str) -> list[float]:
        return [figure(seeds, name).mean for seeds in traces]

    return Total(
        rule=rule,
        executor_h=sum(each("executor_h")),
        late_ratio=float(np.mean(each("late_ratio"))),
        late_rows_ratio=float(np.mean(each("late_rows_ratio"))),
        worst_p99_s=max(each("latency_p99_s")),
        actions=sum(each("actions")),
        flaps=sum(each("flaps")),
        moves=sum(each("moves")),
    )
