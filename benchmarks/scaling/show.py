"""The table as text: for a terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.scaling.summary import Beside, Figure, Scores, Total, beside, figure, totals

from streamjob_sim.scaling_score import ScalingScore


def _plain(value: float) -> str:
    return f"{value:.1f}"


def _percent(value: float) -> str:
    return f"{100 * value:.1f}"


COLUMNS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("executor-hours", "executor_h", _plain),
    ("late batches, %", "late_ratio", _percent),
    ("late rows, %", "late_rows_ratio", _percent),
    ("latency p50, s", "latency_p50_s", lambda value: f"{value:.0f}"),
    ("latency p99, s", "latency_p99_s", lambda value: f"{value:.0f}"),
    ("lag p50, 1000 rows", "lag_p50_rows", lambda value: f"{value / 1000:.0f}"),
    ("lag p99, 1000 rows", "lag_p99_rows", lambda value: f"{value / 1000:.0f}"),
    ("actions", "actions", _plain),
    ("flaps", "flaps", _plain),
    ("moves", "moves", lambda value: f"{value:.0f}"),
    ("moved, MB", "moved_bytes", lambda value: f"{value / 1e6:.0f}"),
)


def overall(scores: Scores) -> str:
    """One row for each rule, all traces together."""
    rows = [_overall(row) for row in totals(scores)]
    heads = ("rule", "executor-hours", "late batches, %", "late rows, %", "worst p99, s", "actions", "flaps", "moves")
    return _table(heads, rows)


def _overall(row: Total) -> tuple[str, ...]:
    return (
        row.rule,
        _cell(row.executor_h, _plain, row.seeds),
        _cell(row.late_ratio, _percent, row.seeds),
        _cell(row.late_rows_ratio, _percent, row.seeds),
        f"{row.worst_p99_s:.0f}",
        f"{row.actions.mean:.0f}",
        f"{row.flaps.mean:.0f}",
        f"{row.moves.mean:.0f}",
    )


def besides(scores: Scores, ours: str) -> str:
    """One row for each other rule: that rule's figures less its, seed by seed."""
    heads = ("less", "executor-hours", "late batches, points", "late rows, points", "cheaper", "fewer late rows")
    return _table(heads, [_beside(row) for row in beside(scores, ours)])


def _beside(row: Beside) -> tuple[str, ...]:
    return (
        row.rule,
        _cell(row.executor_h, lambda value: f"{value:+.1f}", row.seeds),
        _cell(row.late_ratio, lambda value: f"{100 * value:+.1f}", row.seeds),
        _cell(row.late_rows_ratio, lambda value: f"{100 * value:+.1f}", row.seeds),
        f"{row.cheaper} of {row.seeds}",
        f"{row.punctual} of {row.seeds}",
    )


BRIEF = COLUMNS[:3]
"""Hours, late batches, late rows."""


def briefly(scores: Scores) -> str:
    """One row for each trace, with hours, late batches and late rows of each rule."""
    rules = sorted({rule for _, rule in scores})
    heads = ("trace: executor-hours; late batches, %; late rows, %", *rules)
    traces = dict.fromkeys(trace for trace, _ in scores)
    return _table(heads, [(trace, *(_brief(scores[trace, rule]) for rule in rules)) for trace in traces])


def _brief(seeds: tuple[ScalingScore, ...]) -> str:
    return "; ".join(_cell(figure(seeds, name), shown, len(seeds)) for _, name, shown in BRIEF)


def by_trace(scores: Scores, trace: str) -> str:
    """One row for each rule that was on the trace, the cheapest first."""
    rules = [rule for one, rule in scores if one == trace]
    ordered = sorted(rules, key=lambda rule: figure(scores[trace, rule], "executor_h").mean)
    rows = [(rule, *_cells(scores[trace, rule])) for rule in ordered]
    return _table(("rule", *(head for head, _, _ in COLUMNS)), rows)


def _cells(seeds: tuple[ScalingScore, ...]) -> list[str]:
    return [_cell(figure(seeds, name), shown, len(seeds)) for _, name, shown in COLUMNS]


def _cell(found: Figure, shown: Callable[[float], str], seeds: int) -> str:
    return shown(found.mean) if seeds == 1 else f"{shown(found.mean)} ± {shown(found.spread)}"


def _table(heads: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [heads, ("---", *("---:" for _ in heads[1:])), *rows]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)
