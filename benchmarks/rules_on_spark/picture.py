"""Rates, executors and the age of results over time: real runs, and the simulator's beside them."""

from __future__ import annotations

import pathlib
from collections.abc import Mapping, Sequence
from typing import Any

import matplotlib as mpl

mpl.use("Agg")
import numpy as np
from benchmarks.rules_on_spark.course import LEAD_S, Course
from matplotlib import pyplot as plt

COLOURS = {"batch-time": "#3182bd", "utilization": "#74c476", "keda": "#e6550d", "dynamic": "#756bb1"}
LEAST_OLD_S, MOST_OLD_S = 2.0, 300.0
"""Of the axis of ages, which is logarithmic."""
Line = Mapping[str, Any]


def draw(lines: Sequence[Line], courses: Mapping[str, Course], objective_s: float, path: pathlib.Path) -> None:
    """A column for each trace, of first seeds: what arrives, executors of each system, how old its results are.

    Real runs have full lines, the simulator's first run of the same thin dotted ones.
    """
    shown = [one for one in lines if one["seed"] == 1]
    traces = list(dict.fromkeys(one["trace"] for one in shown))
    figure, panels = plt.subplots(3, len(traces), figsize=(7.0 * len(traces), 8.0), squeeze=False, sharex="col")
    for (rates, executors, ages), trace in zip(panels.T, traces, strict=True):
        _rates(rates, trace, courses[trace])
        for one in (one for one in shown if one["trace"] == trace):
            colour, name = COLOURS[one["system"]], one["system"]
            until_s = courses[trace].ends_s - LEAD_S
            _lines(executors, ages, one, until_s, color=colour, linewidth=1.8, label=name)
            _lines(executors, ages, one["foretold"][0], until_s, color=colour, linewidth=1.0, linestyle=":")
        executors.set(ylabel="executors", ylim=(0.0, None))
        ages.axhline(objective_s, color="#444444", linewidth=0.8, linestyle="--")
        ages.set(ylabel="s, oldest results of each batch", xlabel="s", yscale="log", ylim=(LEAST_OLD_S, MOST_OLD_S))
        executors.legend(fontsize=8, frameon=False, ncols=len(COLOURS), loc="lower left")
    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=100)
    plt.close(figure)


def _rates(axis: Any, trace: str, course: Course) -> None:
    at_s, rate_rps = course.at_s - LEAD_S, course.rate_rps
    axis.fill_between(at_s[at_s >= 0], rate_rps[at_s >= 0], color="#d9d9d9")
    axis.set(title=trace, ylabel="rows/s that arrive", ylim=(0.0, None), xlim=(0.0, float(at_s[-1])))


def _lines(executors: Any, ages: Any, run: Line, until_s: float, **style: Any) -> None:
    """The last number of executors is that of all the time after it."""
    counts, oldest = np.array([*run["executors"], (until_s, run["executors"][-1][1])]), np.array(run["oldest_s"])
    executors.step(counts[:, 0], counts[:, 1], where="post", **style)
    ages.plot(oldest[:, 0], oldest[:, 1], **style)
