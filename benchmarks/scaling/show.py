"""The table as text: for a terminal and for the page."""

from __future__ import annotations

from collections.abc import Callable

from benchmarks.scaling.summary import Figure, Scores, Total, figure, totals

from streamjob_sim.scaling_score import ScalingScore

COLUMNS: tuple[tuple[str, str, Callable[[float], str]], ...] = (
    ("executor-hours", "executor_h", lambda value: f"{value:.1f}"),
    ("late batches, %", "late_ratio", lambda value: f"{100 * value:.1f}"),
    ("late rows, %", "late_rows_ratio", lambda value: f"{100 * value:.1f}"),
    ("latency p50, s", "latency_p50_s", lambda value: f"{value:.0f}"),
    ("latency p99, s", "latency_p99_s", lambda value: f"{value:.0f}"),
    ("lag p50, 1000 rows", "lag_p50_rows", lambda value: f"{value / 1000:.0f}"),
    ("lag p99, 1000 rows", "lag_p99_rows", lambda value: f"{value / 1000:.0f}"),
    ("actions", "actions", lambda value: f"{value:.1f}"),
    ("flaps", "flaps", lambda value: f"{value:.1f}"),
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
        f"{row.executor_h:.1f}",
        f"{100 * row.late_ratio:.1f}",
        f"{100 * row.late_rows_ratio:.1f}",
        f"{row.worst_p99_s:.0f}",
        f"{row.actions:.0f}",
        f"{row.flaps:.0f}",
        f"{row.moves:.0f}",
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
