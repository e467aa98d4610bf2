"""Replays as a picture or a page: what arrived, executors, batches and rows that waited, one line for each run."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import jinja2
import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from streamjob_operator.recording.trace import Trace
from streamjob_operator.report_html import TEMPLATES
from streamjob_operator.report_plots import BAD, EXECUTOR_COLOURS, FAINT, STYLE
from streamjob_sim.replay.run import Replayed
from streamjob_sim.replay.show import RECORDED, late_sentences, rows, title

PAGES = (".html",)
SUFFIXES = (".png", ".svg", ".pdf", *PAGES)
HOUR_S = 3600.0


def save(path: Path, trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> None:
    """Write the picture or the page; the suffix names the form. Raises OSError."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in PAGES:
        path.write_text(_page(trace, runs, objective_s, price), encoding="utf-8")
        return
    with mpl.rc_context(STYLE):
        picture(trace, runs, objective_s).savefig(path, dpi=120)


def picture(trace: Trace, runs: Sequence[Replayed], objective_s: float) -> Figure:
    """Four panels over the hours of the trace."""
    figure = Figure(figsize=(11.0, 10.0), layout="constrained")
    figure.suptitle(title(trace))
    panels: Sequence[Axes] = figure.subplots(4, 1, sharex=True)
    hours = [at * trace.step_seconds / HOUR_S for at in range(len(trace.rate))]
    panels[0].step(hours, trace.known_rates(), where="post", color=FAINT, linewidth=1)
    if trace.executors is not None:
        known = [float("nan") if one is None else one for one in trace.executors]
        panels[1].step(hours, known, where="post", color=FAINT, linewidth=1.5, label=RECORDED)
    for run, colour in zip(runs, _colours(len(runs)), strict=True):
        _draw_run(panels, run, colour)
    panels[2].axhline(objective_s, color=BAD, linewidth=0.8, linestyle="--")
    for panel, label in zip(panels, ("rows per second", "executors", "batch, s", "rows waiting"), strict=True):
        panel.set_ylabel(label)
        panel.set_ylim(bottom=0)
    panels[1].legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))
    panels[-1].set_xlabel("hours since the beginning")
    return figure


def _colours(count: int) -> list[str]:
    return [EXECUTOR_COLOURS[at % len(EXECUTOR_COLOURS)] for at in range(count)]


def _draw_run(panels: Sequence[Axes], run: Replayed, colour: str) -> None:
    batches = run.score.batches
    hours = [one.end_s / HOUR_S for one in batches]
    panels[1].step(hours, [one.executors for one in batches], where="post", color=colour, linewidth=1, label=run.name)
    panels[2].plot(hours, [one.length_s for one in batches], color=colour, linewidth=0.8)
    panels[3].plot(hours, [one.waiting for one in batches], color=colour, linewidth=0.8)


def _page(trace: Trace, runs: Sequence[Replayed], objective_s: float, price: float | None) -> str:
    out = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": "replay"}):
        picture(trace, runs, objective_s).savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("replay.html.j2").render(
        title=title(trace),
        names=[RECORDED, *(one.name for one in runs)],
        rows=list(rows(trace, runs, objective_s, price)),
        late=[(one.name, list(late_sentences(one.late, trace.start))) for one in runs],
        svg=svg[svg.index("<svg") :],
    )
