"""A proposal as a picture: load per executor before and after, moves between executors, traffic between executors."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path

import jinja2
import matplotlib as mpl
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator
from scipy import sparse

from streamjob_operator.offline.draw_batch import draw_batches
from streamjob_operator.offline.proposal import Proposal
from streamjob_operator.offline.show import REASONS, figures
from streamjob_operator.report_html import TEMPLATES
from streamjob_operator.report_plots import ACT, BAD, FAINT, INK, STYLE
from streamjob_planners import measures
from streamjob_planners.model import FloatArray, IntArray, LoadModel

PICTURES, PAGES = (".png", ".svg", ".pdf"), (".html",)
MOST_BARS, MOST_LABELS = 60, 40


def save(proposal: Proposal, path: Path) -> None:
    """Write the picture or the page; the suffix names the form. Raises OSError, ValueError for another suffix."""
    if path.suffix not in (*PICTURES, *PAGES):
        raise ValueError(f"'{path}' given; a name that ends with {', '.join((*PICTURES, *PAGES))} is needed")
    path.parent.mkdir(parents=True, exist_ok=True)
    if path.suffix in PAGES:
        path.write_text(page(proposal), encoding="utf-8")
        return
    with mpl.rc_context(STYLE):
        picture(proposal).savefig(path, dpi=120)


def page(proposal: Proposal) -> str:
    """One HTML file with everything inside."""
    out = io.StringIO()
    with mpl.rc_context({**STYLE, "svg.hashsalt": "plan"}):
        picture(proposal).savefig(out, format="svg", metadata={"Date": None})
    svg = out.getvalue()
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("plan.html.j2").render(
        planner=proposal.plan.planner,
        figures=list(figures(proposal)),
        svg=svg[svg.index("<svg") :],
        moves=_move_rows(proposal),
        notes=proposal.plan.notes,
        violations=[one.sentence for one in proposal.violations],
    )


def _move_rows(proposal: Proposal) -> list[tuple[str, ...]]:
    model = proposal.model
    return [
        (
            f"{model.group_ids[move.group].operator}/{model.group_ids[move.group].partition}",
            model.node_ids[move.source],
            model.node_ids[move.target],
            f"{move.reason.value}: {REASONS[move.reason]}",
            f"{move.load:.2f}",
            f"{move.cost_s:.2f}",
            f"{move.state_bytes / 2**20:.1f}",
        )
        for move in proposal.plan.moves
    ]


def picture(proposal: Proposal) -> Figure:
    """Batches on top, where they are predicted; loads; the moves, and the traffic today and after the plan where it was
    measured."""
    talks, timed = proposal.plan.before.collocation_factor is not None, proposal.model.batch is not None
    figure = Figure(figsize=(11.0, 12.0 if timed else 8.0), layout="constrained")
    parts = figure.subfigures(3 if timed else 2, 1, height_ratios=(1.2, 1.0, 1.1)[-3 if timed else -2 :], squeeze=False)
    top, bottom = parts[-2:, 0]
    if timed:
        draw_batches(parts[0, 0].subplots(2, 1), proposal)
    _loads(top.subplots(), proposal)
    panels: Sequence[Axes] = bottom.subplots(1, 3 if talks else 1, squeeze=False)[0]
    _moves(panels[0], proposal)
    if talks:
        _traffic(panels[1], panels[2], proposal)
    return figure


def _loads(axes: Axes, proposal: Proposal) -> None:
    model, plan = proposal.model, proposal.plan
    today, after = (measures.utilisation(model, node_of) for node_of in (model.node_of, plan.node_of))
    if model.n_nodes <= MOST_BARS:
        at = np.arange(model.n_nodes)
        axes.bar(at - 0.2, today, width=0.4, color=FAINT, label="today")
        axes.bar(at + 0.2, after, width=0.4, color=ACT, label="after the plan")
        axes.set_xticks(at, _labels(model), rotation=90 if model.n_nodes > 20 else 0)
        axes.set_xlabel("executor, * marked for removal")
    else:
        # Too many bars to tell apart: the loads in order of size show how uneven they are.
        axes.plot(np.sort(today)[::-1], color=FAINT, linewidth=2, label="today")
        axes.plot(np.sort(after)[::-1], color=ACT, linewidth=2, label="after the plan")
        axes.set_xlabel("executors, in order of their load")
    mean, band = plan.after.mean, proposal.params.max_load_distance
    axes.axhline(mean, color=INK, linewidth=1, linestyle=":", label=f"mean {mean:.1f}")
    axes.axhspan(mean - band, mean + band, color=BAD, alpha=0.06, linewidth=0, label=f"tolerated, ±{band:g}")
    axes.set_axisbelow(True)
    axes.set_ylim(bottom=0.0)
    axes.set_ylabel("load, points of 100")
    axes.set_title(
        f"{plan.planner}: load distance {plan.before.load_distance:.2f} → {plan.after.load_distance:.2f} points"
        + ("" if plan.lower_bound is None else f", proven bound {plan.lower_bound:.2f}")
    )
    axes.legend(loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _moves(axes: Axes, proposal: Proposal) -> None:
    model, moves = proposal.model, proposal.plan.moves
    counts = np.zeros((model.n_nodes, model.n_nodes))
    for move in moves:
        counts[move.source, move.target] += 1
    _matrix(axes, counts, model, f"{len(moves)} moves")


def _traffic(left: Axes, right: Axes, proposal: Proposal) -> None:
    model, plan = proposal.model, proposal.plan
    tables = [between_nodes(model, node_of) / 2**20 for node_of in (model.node_of, plan.node_of)]
    top = max(float(table.max()) for table in tables)
    for axes, table, when, one in zip(
        (left, right), tables, ("today", "after"), (plan.before, plan.after), strict=True
    ):
        title = f"traffic {when}, MiB/s: {one.collocation_factor or 0.0:.0f} % stays"
        _matrix(axes, table, model, title, top)


def between_nodes(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Bytes/s from the key groups of one node to those of another, (n_nodes, n_nodes); the diagonal stays local."""
    if model.traffic is None:
        return np.zeros((model.n_nodes, model.n_nodes))
    pairs = sparse.coo_array(model.traffic)
    flat = np.bincount(node_of[pairs.row] * model.n_nodes + node_of[pairs.col], pairs.data, model.n_nodes**2)
    return flat.reshape(model.n_nodes, model.n_nodes).astype(np.float64)


def _matrix(axes: Axes, table: FloatArray, model: LoadModel, title: str, top: float | None = None) -> None:
    image = axes.imshow(table, cmap="Blues", vmin=0.0, vmax=max(top or float(table.max()), 1e-9))
    axes.grid(visible=False)
    axes.set_title(title)
    axes.set_xlabel("to executor")
    axes.set_ylabel("from executor")
    if model.n_nodes <= MOST_LABELS:
        axes.set_xticks(range(model.n_nodes), _labels(model), rotation=90 if model.n_nodes > 12 else 0)
        axes.set_yticks(range(model.n_nodes), _labels(model))
    if axes.figure is not None:
        axes.figure.colorbar(image, ax=axes, shrink=0.7, ticks=MaxNLocator(5, integer=top is None))


def _labels(model: LoadModel) -> list[str]:
    return [name + ("*" if marked else "") for name, marked in zip(model.node_ids, model.marked, strict=True)]
