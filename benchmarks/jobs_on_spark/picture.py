"""Batch seconds of every system over plain Spark's, a group of bars a job."""

from __future__ import annotations

import pathlib
from collections.abc import Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from benchmarks.jobs_on_spark import shapes, systems
from benchmarks.jobs_on_spark.compared import Row
from benchmarks.jobs_on_spark.systems import VANILLA
from matplotlib import pyplot as plt

COLOURS = ("#bdbdbd", "#969696", "#fdae6b", "#3182bd", "#74c476", "#756bb1", "#e6550d")
HIGHEST = 1.6
"""Bars end here: a system that is slower than that is told in the table."""


def draw(rows: Sequence[Row], path: pathlib.Path) -> None:
    """p50 of batches with what rounds differ by, and how low placement alone could bring it; a panel for each shape."""
    of_shape = {one.name: [row for row in rows if row.shape == one.name] for one in shapes.SHAPES}
    shown = {name: some for name, some in of_shape.items() if some}
    most = max((len({row.job for row in some}) for some in shown.values()), default=1)
    size = (max(6.0, 1.1 * most + 2.0), 4.2 * max(1, len(shown)))
    figure, panels = plt.subplots(max(1, len(shown)), figsize=size, squeeze=False)
    for axis, (name, some) in zip(panels[:, 0], shown.items(), strict=False):
        _panel(axis, some, shapes.named(name).about)
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _panel(axis: Any, rows: Sequence[Row], title: str) -> None:
    """The jobs of one shape."""
    jobs = list(dict.fromkeys(one.job for one in rows))
    others = [one.name for one in systems.SYSTEMS if one.name != VANILLA and _some(rows, one.name)]
    width = 0.8 / max(1, len(others))
    for at, name in enumerate(others):
        _bars(
            axis, [one for one in rows if one.system == name], jobs, (at - (len(others) - 1) / 2) * width, width, name
        )
    plain = [one for one in rows if one.system == VANILLA]
    axis.scatter(
        [jobs.index(one.job) for one in plain],
        [1.0 - one.reachable_ratio.mean for one in plain],
        marker="_",
        s=900,
        color="#d62728",
        zorder=3,
        label="even placement",
    )
    axis.axhline(1.0, color="#444444", linewidth=0.8, linestyle="--")
    axis.set_xticks(np.arange(len(jobs)), jobs, rotation=30, ha="right", fontsize=8)
    axis.set_title(title, fontsize=9)
    axis.set_ylabel("p50 of batch seconds over plain Spark's")
    axis.set_ylim(0.0, HIGHEST)
    axis.legend(fontsize=8, frameon=False, ncols=4, loc="upper center")


def _some(rows: Sequence[Row], system: str) -> bool:
    return any(one.system == system and one.ratios is not None for one in rows)


def _bars(axis: Any, rows: Sequence[Row], jobs: Sequence[str], shift: float, width: float, name: str) -> None:
    found = [(jobs.index(one.job), one.ratios["p50"]) for one in rows if one.ratios is not None]
    axis.bar(
        [at + shift for at, _ in found],
        [ratio.mean for _, ratio in found],
        width,
        yerr=[ratio.spread / 2 for _, ratio in found],
        color=COLOURS[systems.NAMES.index(name) - 1],
        ecolor="#444444",
        label=name,
    )
