"""The comparison as one drawing: p95 and throughput of StreamJob over vanilla Spark, and what the bound allows."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from cases import SHAPES
from matplotlib import pyplot as plt

SKEWS = ("none", "uniform", "hot", "skewed", "shifting")
PANELS = {
    "computing, 2 slots": {skew: f"{skew}-cpu" for skew in SKEWS},
    "waiting, 4 slots": {skew: f"{skew}-wait" for skew in SKEWS},
    "waiting, other shapes": {shape: f"{shape}-wait" for shape in SHAPES},
}


def draw(rows: Sequence[Mapping[str, Any]], path: pathlib.Path) -> None:
    """A panel for each kind of case; cases without a run are left out. Makes the folder."""
    found = {str(one["case"]): one for one in rows}
    figure, axes = plt.subplots(1, len(PANELS), figsize=(13.0, 3.6), sharey=True)
    for axis, (title, cases) in zip(axes, PANELS.items(), strict=True):
        panel(axis, {short: found[name] for short, name in cases.items() if name in found})
        axis.set_title(title, fontsize=10)
    axes[0].set_ylabel("StreamJob / vanilla Spark")
    handles, labels = axes[0].get_legend_handles_labels()
    figure.legend(handles, labels, loc="lower center", ncols=len(labels), fontsize=8, frameon=False)
    figure.tight_layout(rect=(0.0, 0.07, 1.0, 1.0))
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=110)
    plt.close(figure)


def panel(axis: Any, cases: Mapping[str, Mapping[str, Any]]) -> None:
    """Bars of p50 and p95 ratios with their spread over the rounds, and the ratio at which p50 is the bound's."""
    at = np.arange(len(cases))
    for shift, quantile, colour in ((-0.2, 50, "#9ecae1"), (0.2, 95, "#3182bd")):
        ratio = [one[f"p{quantile}_ratio"] for one in cases.values()]
        axis.bar(
            at + shift,
            [one["mean"] for one in ratio],
            0.38,
            yerr=[one["spread"] / 2 if one["trials"] > 1 else float("nan") for one in ratio],
            color=colour,
            ecolor="#444444",
            capsize=3,
            label=f"p{quantile} of batch time",
        )
    reach = [reachable(one) for one in cases.values()]
    axis.scatter(at - 0.2, reach, marker="_", s=420, color="#d62728", zorder=3, label="p50 at bound + fixed cost")
    axis.axhline(1.0, color="#444444", linewidth=0.8, linestyle="--")
    axis.set_xticks(at, list(cases))
    axis.set_ylim(0.0, 1.5)


def reachable(one: Mapping[str, Any]) -> float:
    """What p50 would be over vanilla's with every slot busy until the end; NaN while the fixed cost is unknown."""
    if "fixed_ms" not in one:
        return float("nan")
    return float((one["makespan_bound_ms"] + one["fixed_ms"]) / one["vanilla_p50_ms"])
