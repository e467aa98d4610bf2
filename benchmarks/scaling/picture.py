"""The table as a picture: what rules cost beside how often they are late; one panel for each trace."""

from __future__ import annotations

import math
from collections import defaultdict
from pathlib import Path

import matplotlib
from benchmarks.scaling.summary import Scores, figure

matplotlib.use("Agg")
from matplotlib import pyplot

COLUMNS = 4
MARKERS = defaultdict(lambda: "o", h="v", k="^", f="s", d="D", s="P", o="*")
"""By a rule's first letter: colours alone do not tell eleven rules apart."""


def draw(scores: Scores, path: Path) -> None:
    """Executor-hours across, late batches up: down and to the left is better."""
    traces = list(dict.fromkeys(trace for trace, _ in scores))
    rows = math.ceil(len(traces) / COLUMNS)
    drawing, axes = pyplot.subplots(rows, COLUMNS, figsize=(4 * COLUMNS, 3.4 * rows), squeeze=False)
    for at, panel in enumerate(axes.flat):
        if at < len(traces):
            _panel(panel, scores, traces[at])
        else:
            panel.axis("off")
    drawing.tight_layout()
    handles, labels = axes.flat[0].get_legend_handles_labels()
    drawing.legend(handles, labels, loc="lower right", ncols=2, fontsize=11)
    path.parent.mkdir(parents=True, exist_ok=True)
    drawing.savefig(path, dpi=110)
    pyplot.close(drawing)


def _panel(panel: pyplot.Axes, scores: Scores, trace: str) -> None:
    panel.set_title(trace, fontsize=10)
    panel.set_xlabel("executor-hours", fontsize=8)
    panel.set_ylabel("late batches, %", fontsize=8)
    panel.set_yscale("symlog", linthresh=1.0)
    panel.set_ylim(-0.2, 110)
    for (one, rule), seeds in scores.items():
        if one != trace:
            continue
        hours, late = figure(seeds, "executor_h"), figure(seeds, "late_ratio")
        at = (hours.mean, 100 * late.mean)
        style = {"marker": MARKERS[rule[0]], "markersize": 6, "linewidth": 0.8, "linestyle": "none", "label": rule}
        panel.errorbar(*at, xerr=hours.spread, yerr=100 * late.spread, **style)
