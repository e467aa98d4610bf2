"""Runs on nodes batch by batch: how much of the last stage's input is local, bytes on the wire, seconds."""

from __future__ import annotations

import pathlib
from collections.abc import Callable, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from benchmarks.nodes.kept import Kept
from benchmarks.nodes.report import COLD, by_query, crossed_mib
from benchmarks.nodes.runs import Batch, Ran
from matplotlib import pyplot as plt

COLOURS = {"vanilla": "#7f7f7f", "search": "#ff7f0e", "albic": "#1f77b4", "cola": "#d62728"}


def _local_pct(_: Ran, batch: Batch) -> float:
    return 100.0 * batch.last_local_bytes / max(1, batch.last_local_bytes + batch.last_remote_bytes)


def _wire_mib(ran: Ran, batch: Batch) -> float:
    return crossed_mib(ran, batch.began_at_s, batch.began_at_s + batch.took_s)


def _took_s(_: Ran, batch: Batch) -> float:
    return batch.took_s


PANELS: dict[str, Callable[[Ran, Batch], float]] = {
    "read locally by the last stage, %": _local_pct,
    "from node to node in a batch, MiB": _wire_mib,
    "batch, s": _took_s,
}


def draw(runs: Sequence[Kept], jobs: Sequence[str], path: pathlib.Path) -> None:
    """A column for each job, of one query each; lines are means over the rounds. Makes the folder."""
    figure, axes = plt.subplots(len(PANELS), len(jobs), figsize=(5.2 * len(jobs), 7.6), sharex=True, squeeze=False)
    for column, job in enumerate(jobs):
        chosen = [one for one in runs if one.job == job]
        for axis, (label, of) in zip(axes[:, column], PANELS.items(), strict=True):
            _lines(axis, chosen, of)
            axis.set_ylabel(label, fontsize=9)
            axis.set_ylim(bottom=0.0)
        axes[0, column].set_title(job, fontsize=11)
        axes[-1, column].set_xlabel("batch")
    handles, labels = axes[0, 0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), fontsize=9, frameon=False)
    figure.tight_layout(rect=(0.0, 0.04, 1.0, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def _lines(axis: Any, runs: Sequence[Kept], of: Callable[[Ran, Batch], float]) -> None:
    for system, colour in COLOURS.items():
        rounds = [_series(one.ran, of) for one in runs if one.system == system]
        if rounds:
            shortest = min(map(len, rounds))
            mean = np.mean([one[COLD:shortest] for one in rounds], axis=0)
            axis.plot(np.arange(COLD, shortest), mean, color=colour, label=system, linewidth=1.6)


def _series(ran: Ran, of: Callable[[Ran, Batch], float]) -> list[float]:
    (batches,) = by_query(ran).values()
    return [of(ran, one) for one in batches]
