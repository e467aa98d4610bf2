"""The course of the runs as a picture. Needs matplotlib, which the operator is installed without."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from streamjob_sim.score import Score


def draw(title: str, scores: Sequence[Score], path: Path) -> None:
    """Batch time, load distance, executors and moves over time; the suffix names the format (png, svg, pdf).

    Folders of the file are made. Raises OSError.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    with mpl.rc_context({"text.parse_math": False}):  # names are not ours: $ is a dollar
        _picture(title, scores).savefig(path)


def _picture(title: str, scores: Sequence[Score]) -> Figure:
    figure = Figure(figsize=(10, 11), layout="constrained")
    figure.suptitle(title)
    panels: Sequence[Axes] = figure.subplots(4, 1, sharex=True)
    for score in scores:
        _draw_run(panels, score)
    for panel, label in zip(
        panels, ("batch, s", "load distance, points", "executors ready", "moves, running total"), strict=True
    ):
        panel.set_ylabel(label)
        panel.grid(alpha=0.3)
    panels[0].legend()
    panels[-1].set_xlabel("minutes")
    return figure


def _draw_run(panels: Sequence[Axes], score: Score) -> None:
    ends = [batch.end_s / 60 for batch in score.batches]
    moves, total = [], 0
    for batch in score.batches:
        total += batch.moves
        moves.append(total)
    told = [turn for turn in score.turns if turn.load_distance is not None]
    panels[0].plot(ends, [batch.length_s for batch in score.batches], label=score.planner, linewidth=1)
    panels[1].plot([turn.at_s / 60 for turn in told], [turn.load_distance or 0.0 for turn in told], linewidth=1)
    panels[2].step(ends, [batch.executors for batch in score.batches], where="post", linewidth=1)
    panels[3].plot(ends, moves, linewidth=1)
