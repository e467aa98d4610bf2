"""From runs to rows of the table: mean and spread over seeds, sums over traces, and each rule against the oracle."""

from __future__ import annotations

import dataclasses
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence

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


Runs = Iterable[tuple[Piece, ScalingScore]]


def whole(runs: Runs, wanted: Collection[Piece]) -> Runs:
    """The runs of those seeds of which every wanted run is there, so that sums over traces are of the same seeds."""
    there = dict(runs)
    missing = {piece.seed for piece in wanted if piece not in there}
    return [(piece, score) for piece, score in there.items() if piece.seed not in missing]


def gathered(runs: Runs) -> Scores:
    """Runs by trace and rule, those of each in the order of their seeds."""
    found: dict[tuple[str, str], list[ScalingScore]] = defaultdict(list)
    for piece, score in sorted(runs, key=lambda run: run[0].seed):
        found[piece.trace, piece.rule].append(score)
    return {key: tuple(scores) for key, scores in found.items()}


def figure(scores: tuple[ScalingScore, ...], name: str) -> Figure:
    """One figure of all seeds."""
    return of_values([getattr(score, name) for score in scores])


def of_values(each: Sequence[float]) -> Figure:
    """One value a seed, at least one."""
    values = np.array(each, dtype=np.float64)
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
    """A rule over all traces that every rule has been on: sums of hours, actions and moves, means of shares, each seed
    by seed; of the traces' mean p99 the worst."""

    rule: str
    seeds: int
    executor_h: Figure
    late_ratio: Figure
    late_rows_ratio: Figure
    worst_p99_s: float
    actions: Figure
    flaps: Figure
    moves: Figure


def totals(scores: Scores) -> list[Total]:
    """One row for each rule, the cheapest first; traces that some rule lacks are left out."""
    rules = sorted({rule for _, rule in scores})
    traces = _common(scores, rules)
    rows = [_total(rule, [scores[trace, rule] for trace in traces]) for rule in rules if traces]
    return sorted(rows, key=lambda row: row.executor_h.mean)


def _common(scores: Scores, rules: list[str]) -> list[str]:
    return [one for one in sorted({trace for trace, _ in scores}) if all((one, rule) in scores for rule in rules)]


def _total(rule: str, traces: list[tuple[ScalingScore, ...]]) -> Total:
    return Total(
        rule=rule,
        seeds=min(len(seeds) for seeds in traces),
        executor_h=of_values(sums(traces, "executor_h")),
        late_ratio=of_values(means(traces, "late_ratio")),
        late_rows_ratio=of_values(means(traces, "late_rows_ratio")),
        worst_p99_s=max(figure(seeds, "latency_p99_s").mean for seeds in traces),
        actions=of_values(sums(traces, "actions")),
        flaps=of_values(sums(traces, "flaps")),
        moves=of_values(sums(traces, "moves")),
    )


def sums(traces: Sequence[tuple[ScalingScore, ...]], name: str) -> list[float]:
    """A figure's sum over traces, seed by seed, of the seeds that all traces have."""
    return [sum(getattr(score, name) for score in seed) for seed in zip(*traces, strict=False)]


def means(traces: Sequence[tuple[ScalingScore, ...]], name: str) -> list[float]:
    """The same of a figure's mean."""
    return [one / len(traces) for one in sums(traces, name)]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """One rule's totals less another's with the same seeds; in how many of the `seeds` it is cheaper, and has fewer
    late rows."""

    rule: str
    seeds: int
    executor_h: Figure
    late_ratio: Figure
    late_rows_ratio: Figure
    cheaper: int
    punctual: int


def beside(scores: Scores, ours: str) -> list[Beside]:
    """That rule beside each other one, over the traces that every rule has been on."""
    rules = sorted({rule for _, rule in scores})
    traces = _common(scores, rules)
    return [_beside(scores, traces, ours, rule) for rule in rules if rule != ours and traces]


def _beside(scores: Scores, traces: list[str], ours: str, rule: str) -> Beside:
    own, other = ([scores[trace, one] for trace in traces] for one in (ours, rule))
    hours, late, rows = (
        np.subtract(of(own, name), of(other, name)).tolist()
        for of, name in ((sums, "executor_h"), (means, "late_ratio"), (means, "late_rows_ratio"))
    )
    return Beside(
        rule=rule,
        seeds=len(hours),
        executor_h=of_values(hours),
        late_ratio=of_values(late),
        late_rows_ratio=of_values(rows),
        cheaper=sum(one < 0 for one in hours),
        punctual=sum(one < 0 for one in rows),
    )
