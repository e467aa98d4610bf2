"""The score table on a terminal."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from rich.table import Table

from streamjob_operator.spec.quantities import format_duration
from streamjob_sim.score import Score

ROWS: tuple[tuple[str, Callable[[Score], str]], ...] = (
    ("batch, mean", lambda score: f"{score.mean_batch_s:.2f} s"),
    ("batch, p95", lambda score: f"{score.p95_batch_s:.2f} s"),
    ("batch, max", lambda score: f"{score.max_batch_s:.2f} s"),
    ("records waiting, max", lambda score: f"{score.max_waiting:,.0f}"),
    ("records waiting, end", lambda score: f"{score.final_waiting:,.0f}"),
    ("load distance, mean", lambda score: f"{score.mean_distance:.1f}"),
    ("load distance, last quarter", lambda score: f"{score.final_distance:.1f}"),
    ("time in overlong batches", lambda score: format_duration(round(score.overloaded_s))),
    ("moves", lambda score: f"{score.moves}"),
    ("state moved", lambda score: f"{score.moved_bytes / 2**20:,.0f} MiB"),
    ("executor hours", lambda score: f"{score.executor_s / 3600:.2f}"),
    ("scaled out / in", lambda score: f"{score.scale_outs} / {score.scale_ins}"),
    ("changes of direction", lambda score: f"{score.turns_back}"),
    ("controller crashes", lambda score: f"{score.crashes}"),
    ("violations", lambda score: f"{len(score.violations)}"),
)


def table(title: str, scores: Sequence[Score]) -> Table:
    """One column for each run."""
    result = Table(title=title, title_justify="left")
    result.add_column("")
    for score in scores:
        result.add_column(score.planner, justify="right")
    for name, value in ROWS:
        result.add_row(name, *(value(score) for score in scores))
    return result


def violations(scores: Sequence[Score]) -> list[str]:
    """One line for each thing that a controller should not have asked for."""
    return [
        f"{score.planner}, {format_duration(one.at_s)}: {one.code}: {one.sentence}"
        for score in scores
        for one in score.violations
    ]
