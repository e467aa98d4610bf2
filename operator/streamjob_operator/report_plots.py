"""The plots of the report: each is one SVG over the same time axis, seconds since the first measurement."""

from __future__ import annotations

import dataclasses
import functools
import io
import itertools
import math
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator, MultipleLocator

from streamjob_operator.digest import CycleDigest
from streamjob_operator.series import joined

WIDTH_IN, HEIGHT_IN = 10.0, 2.7
MARGINS = {"left": 0.075, "right": 0.82, "top": 0.91, "bottom": 0.17}
INK, FAINT, ACT, BAD, SHIFT = "#1f2933", "#9aa5b1", "#0b7285", "#c92a2a", "#9c36b5"
EXECUTOR_COLOURS = ("#1c7ed6", "#f08c00", "#2f9e44", "#9c36b5", "#e8590c", "#099268", "#5f3dc4", "#a61e4d")
LONG_S = 3 * 3600.0
HOURS = (0.25, 0.5, 1.0, 2.0, 4.0, 6.0, 12.0, 24.0)
"""What may be between two marks of a time axis of hours, of which there are a dozen at most."""
LONGEST_S = 12 * 3600.0 * HOURS[-1]
MANY_BATCHES = 2000
LABEL_PART = 0.08
"""Part of the time axis that the label of a batch takes."""
PHASE_COLOURS = ("#f1f3f5", "#ffffff")
STYLE: Any = {
    "svg.fonttype": "none",
    "text.parse_math": False,  # names are not ours: $ is a dollar
    "font.family": ["DejaVu Sans", "sans-serif"],
    "font.size": 9,
    "text.color": INK,
    "axes.edgecolor": FAINT,
    "axes.labelcolor": INK,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.grid": True,
    "grid.color": "#e4e7eb",
    "grid.linewidth": 0.6,
    "xtick.color": "#52606d",
    "ytick.color": "#52606d",
    "legend.frameon": False,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One micro-batch: when it ended, seconds since the epoch, and how long it took."""

    ended_at_s: float
    duration_s: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Phase:
    """A named time of the source, from its start on."""

    name: str
    at_s: float


@dataclasses.dataclass(frozen=True, kw_only=True)
class Timeline:
    """All that is drawn. `bound_pct` is the policy's largest tolerated load distance, None when nobody told it."""

    cycles: tuple[CycleDigest, ...]
    batches: tuple[Batch, ...]
    phases: tuple[Phase, ...]
    bound_pct: float | None

    @functools.cached_property
    def start_s(self) -> float:
        """Zero of the time axis: the first measurement, or the first cycle when nothing was ever measured."""
        measured = [one.at_s for one in self.cycles if one.executors][:1] + [one.ended_at_s for one in self.batches[:1]]
        return min(measured or [one.at_s for one in self.cycles[:1]], default=0.0)

    @functools.cached_property
    def end_s(self) -> float:
        """The newest thing seen."""
        return max([one.at_s for one in self.cycles[-1:]] + [one.ended_at_s for one in self.batches[-1:]], default=0.0)

    def since_start(self, at_s: float) -> float:
        """Where a moment is on the time axis."""
        return at_s - self.start_s


Dash = Literal["solid", "dashdot", "dotted"]
Draw = Callable[[Axes, Timeline], None]


def svg(draw: Draw, timeline: Timeline, height_in: float = HEIGHT_IN) -> str:
    """One plot as an SVG element, to be put into a page as it is."""
    # Ids inside the SVG must not meet those of another plot on the page.
    style: Any = {**STYLE, "svg.hashsalt": draw.__name__}
    with mpl.rc_context(style):
        figure = Figure(figsize=(WIDTH_IN, height_in))
        figure.subplots_adjust(**MARGINS)  # the same for all, so that the time axes of the plots line up
        axes = figure.add_subplot()
        _phases(axes, timeline)
        draw(axes, timeline)
        axes.set_xlim(0, max(1.0, timeline.since_start(timeline.end_s)))
        axes.set_ylim(bottom=0)
        _times(axes)
        out = io.StringIO()
        figure.savefig(out, format="svg", metadata={"Date": None})
    text = out.getvalue()
    return text[text.index("<svg") :]


def _phases(axes: Axes, timeline: Timeline) -> None:
    starts = [timeline.since_start(phase.at_s) for phase in timeline.phases]
    ends = [*starts[1:], timeline.since_start(timeline.end_s)][: len(starts)]
    for number, (phase, start, end) in enumerate(zip(timeline.phases, starts, ends, strict=True)):
        axes.axvspan(start, end, color=PHASE_COLOURS[number % 2], zorder=0, linewidth=0)
        at_top = axes.get_xaxis_transform()
        axes.text((start + end) / 2, 1.01, phase.name, transform=at_top, ha="center", va="bottom", color="#52606d")


def _times(axes: Axes) -> None:
    """Seconds, or of a long run hours: whole ones, or quarters."""
    span_s = axes.get_xlim()[1]
    if span_s < LONG_S:
        axes.set_xlabel("seconds since the first measurement")
        return
    step_h = next((step for step in HOURS if span_s <= 12 * 3600 * step), HOURS[-1] * math.ceil(span_s / LONGEST_S))
    axes.xaxis.set_major_locator(MultipleLocator(3600 * step_h))
    axes.xaxis.set_major_formatter(lambda at_s, _: f"{at_s / 3600:g}")
    axes.set_xlabel("hours since the first measurement")


def _legend(axes: Axes) -> None:
    handles, labels = axes.get_legend_handles_labels()
    if handles:
        unique = dict(zip(labels, handles, strict=True))
        axes.legend(unique.values(), unique.keys(), loc="upper left", bbox_to_anchor=(1.0, 1.0), borderaxespad=0.2)


def _series(timeline: Timeline, value: Callable[[CycleDigest], float | None]) -> tuple[list[float], list[float]]:
    pairs = [(timeline.since_start(one.at_s), value(one)) for one in timeline.cycles]
    known = [(at, figure) for at, figure in pairs if figure is not None]
    return [at for at, _ in known], [figure for _, figure in known]


def _steps(axes: Axes, points: tuple[Sequence[float], Sequence[float]], **style: Any) -> None:
    axes.step(*points, where="post", **style)


def batch_times(axes: Axes, timeline: Timeline) -> None:
    """Each batch's duration, what was predicted, the bound, and marks of decisions and of changes of load."""
    at = [timeline.since_start(batch.ended_at_s) for batch in timeline.batches]
    durations = [batch.duration_s for batch in timeline.batches]
    # A line through a day's batches is a black band: their dots alone show where most of them are.
    width, size = (0.8, 3.5) if len(at) <= MANY_BATCHES else (0.0, 1.5)
    axes.plot(at, durations, color=INK, marker="o", label="batch", markeredgewidth=0, linewidth=width, markersize=size)
    triggers = [one.rates.trigger_interval_s for one in timeline.cycles if one.rates and one.rates.trigger_interval_s]
    if triggers:
        axes.axhline(triggers[-1], color=BAD, linewidth=1, linestyle="--", label="trigger interval")
    _upright(axes, timeline, (one.at_s for one in timeline.cycles if one.acted), ACT, 0.55, "solid", "decision")
    shared = (one.changed_at_s for one in timeline.cycles)
    _upright(axes, timeline, shared, SHIFT, 0.7, "dashdot", "load shared anew")
    level = (one.level_changed_at_s for one in timeline.cycles)
    _upright(axes, timeline, level, SHIFT, 0.7, "dotted", "more or less load")
    predicted = _series(timeline, lambda one: None if one.batch is None else one.batch.predicted_s)
    axes.plot(*predicted, color="#f08c00", linewidth=1.4, marker="x", markersize=4, label="mean batch, predicted")
    single = joined(one.batch_times for one in timeline.cycles if one.batch_times is not None)
    if single is not None:
        ends = [timeline.since_start(at_s) for at_s in single.ended_at_s.tolist()]
        axes.plot(ends, single.predicted_s, ".", color="#f08c00", markersize=4, label="predicted")
    bound = _series(timeline, lambda one: None if one.batch is None else one.batch.bound_s)
    _steps(axes, bound, color="#2f9e44", linewidth=1, linestyle=":", label="bound")
    # The cold first batch would hide all others: the axis follows the rest, and the note keeps it honest.
    top = 1.15 * max([*sorted(durations)[: max(1, int(0.97 * len(durations)))], *triggers[-1:], 0.1])
    axes.set_ylim(0, top)
    if len(at) <= MANY_BATCHES:
        _tell_tall(axes, [(x, took) for x, took in zip(at, durations, strict=True) if took > top], timeline, top)
    axes.set_ylabel("batch duration, s")
    _legend(axes)


def _tell_tall(axes: Axes, tall: Iterable[tuple[float, float]], timeline: Timeline, top_s: float) -> None:
    """Seconds of the batches that are cut off: of neighbours whose labels would meet the longest one's."""
    span_s = max(1.0, timeline.since_start(timeline.end_s))
    told: list[tuple[float, float]] = []
    for x, took_s in tall:
        if told and x - told[-1][0] < LABEL_PART * span_s:
            told[-1] = max(told[-1], (x, took_s), key=lambda one: one[1])
        else:
            told.append((x, took_s))
    for x, took_s in told:
        left = x > (1 - LABEL_PART) * span_s  # beside it is the legend
        text: Any = {"xytext": (-4 if left else 4, -10), "ha": "right" if left else "left", "color": "#52606d"}
        axes.annotate(f"{took_s:.1f} s ↑", (x, top_s), textcoords="offset points", **text)


def _upright(
    axes: Axes, timeline: Timeline, at_s: Iterable[float | None], colour: str, alpha: float, style: Dash, label: str
) -> None:
    """Lines from the bottom to the top at these times, each once."""
    found = sorted({timeline.since_start(one) for one in at_s if one is not None})
    if found:  # one thing to draw: a run of days has thousands
        top = axes.get_xaxis_transform()
        axes.vlines(found, 0, 1, colour, style, label=label, transform=top, linewidth=1, alpha=alpha)


def loads(axes: Axes, timeline: Timeline) -> None:
    """Share of each executor's task slots that its key groups keep busy; dashed while it is marked for removal.

    Of more executors than colours: between the least and the most loaded one, the middle half of them, and the median.
    """
    names = {one.executor_id for cycle in timeline.cycles for one in cycle.executors}
    if len(names) <= len(EXECUTOR_COLOURS):
        _each_load(axes, timeline, sorted(names, key=lambda name: (len(name), name)))
    else:
        _spread_of_loads(axes, timeline)
    axes.plot(
        *_series(timeline, lambda one: one.mean_pct), color=INK, linewidth=1, linestyle=":", label="mean (unmarked)"
    )
    axes.axhline(100, color=BAD, linewidth=0.8, linestyle="--")
    axes.set_ylabel("load, % of task slots")
    _legend(axes)


def _each_load(axes: Axes, timeline: Timeline, names: Sequence[str]) -> None:
    for colour, name in zip(EXECUTOR_COLOURS, names, strict=False):
        whole = _series(timeline, functools.partial(_load, name=name))
        axes.plot(*whole, color=colour, linewidth=1.8, label=f"executor {name}")
        # White dashes over the line make it a dashed one for as long as the executor is marked.
        marked = _series(timeline, functools.partial(_load, name=name, state="draining"))
        axes.plot(*marked, color="white", linewidth=2.2, linestyle=(0, (2, 2)))


def _load(cycle: CycleDigest, name: str, state: str | None = None) -> float | None:
    for executor in cycle.executors:
        if executor.executor_id == name and state in (None, executor.state):
            return executor.load_pct
    return None


def _spread_of_loads(axes: Axes, timeline: Timeline) -> None:
    measured = [cycle for cycle in timeline.cycles if cycle.executors]
    at = [timeline.since_start(cycle.at_s) for cycle in measured]
    found = [np.percentile([one.load_pct for one in cycle.executors], (0, 25, 50, 75, 100)) for cycle in measured]
    least, low, median, high, most = np.transpose(found)
    colour = EXECUTOR_COLOURS[0]
    axes.fill_between(at, least, most, color=colour, alpha=0.18, linewidth=0, label="least to most loaded")
    axes.fill_between(at, low, high, color=colour, alpha=0.35, linewidth=0, label="middle half of executors")
    axes.plot(at, median, color=colour, linewidth=1.4, label="median executor")


def distance(axes: Axes, timeline: Timeline) -> None:
    """Measured load distance, what plans promised, and the policy's bound."""
    axes.plot(
        *_series(timeline, lambda one: one.distance_pct),
        color=INK,
        linewidth=1.8,
        marker="o",
        markersize=3,
        label="measured",
    )
    promised = _series(timeline, lambda one: one.predicted_pct if one.acted else None)
    axes.plot(*promised, color=ACT, linestyle="", marker="v", markersize=6, label="promised by a plan")
    if timeline.bound_pct is not None:
        axes.axhline(timeline.bound_pct, color=BAD, linewidth=1, linestyle="--", label=f"bound, {timeline.bound_pct:g}")
    axes.set_ylabel("load distance,\npercent points")
    _legend(axes)


def moves(axes: Axes, timeline: Timeline) -> None:
    """Key groups that each cycle asked to move, and those that the agent had still to move."""
    at, counts = _series(timeline, lambda one: float(one.moves))
    width = 0.35 * min([late - early for early, late in itertools.pairwise(at)], default=1.0)
    axes.bar(at, counts, width=width, color=ACT, label="asked in this cycle")
    _steps(axes, _series(timeline, lambda one: float(one.pending)), color="#f08c00", linewidth=1.5, label="still to do")
    axes.set_ylabel("key groups")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes)


def executors(axes: Axes, timeline: Timeline) -> None:
    """Executors wanted, ready and marked for removal."""
    _steps(axes, _series(timeline, lambda one: one.target), color=BAD, linewidth=1.2, linestyle="--", label="target")
    _steps(axes, _series(timeline, lambda one: float(one.ready)), color="#2f9e44", linewidth=2, label="ready")
    _steps(
        axes, _series(timeline, lambda one: float(one.marked)), color="#9c36b5", linewidth=2, label="marked for removal"
    )
    axes.set_ylabel("executors")
    axes.yaxis.set_major_locator(MaxNLocator(integer=True))
    _legend(axes)


def source(axes: Axes, timeline: Timeline) -> None:
    """Rows that came in, over the statistics period."""
    _steps(axes, _series(timeline, lambda one: one.rates.input_rps if one.rates else None), color=INK, linewidth=1.6)
    axes.set_ylabel("input, rows/s")


def collocation(axes: Axes, timeline: Timeline) -> None:
    """Share of the traffic between key groups that stays within an executor."""
    axes.plot(*_series(timeline, lambda one: one.collocation_pct), color=INK, linewidth=1.6, marker="o", markersize=3)
    axes.set_ylim(0, 100)
    axes.set_ylabel("collocation factor, %")
