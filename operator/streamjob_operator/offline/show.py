"""A proposal on a terminal: figures, load per executor before and after, moves with their reasons."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import numpy as np
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from streamjob_operator.counting import moves_told
from streamjob_operator.offline.proposal import Proposal
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.view_panels import bar, number
from streamjob_planners import measures
from streamjob_planners.model import FloatArray, IntArray, MoveReason

MOST_EXECUTORS, MOST_MOVES = 24, 40
BAR_CELLS = 16
REASONS = {
    MoveReason.DRAIN: "its executor is marked for removal",
    MoveReason.RELIEVE: "its executor is above the mean",
    MoveReason.FILL: "the new executor is below the mean",
    MoveReason.COLLOCATE: "joins a key group that it talks to",
    MoveReason.SWAP: "makes room for another move",
}


def render(proposal: Proposal) -> RenderableType:
    """All of it."""
    plan = proposal.plan
    parts: list[RenderableType] = [_figures(proposal), Text(), _executors(proposal), Text(), _moves(proposal)]
    parts += [] if plan.choice is None else [Text(plan.choice)]
    parts += [Text(f"Note: {note}") for note in plan.notes]
    parts += [Text(f"Refused by the judge: {one.sentence}", style="red") for one in proposal.violations]
    return Group(*parts)


def _figures(proposal: Proposal) -> Table:
    table = Table(title=f"Plan of '{proposal.plan.planner}'", title_justify="left")
    table.add_column("")
    table.add_column("today", justify="right")
    table.add_column("after the plan", justify="right")
    for name, today, after in figures(proposal):
        table.add_row(name, today, after)
    return table


def figures(proposal: Proposal) -> Iterator[tuple[str, str, str]]:
    """Name, figure of today, figure after the plan."""
    plan, before, after = proposal.plan, proposal.plan.before, proposal.plan.after
    proven = ", proven optimal" if plan.proven_optimal else ""
    if after.expected_s is not None:
        yield "mean batch, measured", number(proposal.batch_s, " s", 2), ""
        yield "mean batch, predicted", number(before.expected_s, " s", 2), number(after.expected_s, " s", 2)
        yield "its proven bound", "", f"{number(plan.batch_bound_s, ' s', 2)}{proven}"
        proven = ""
    yield "load distance d, points", f"{before.load_distance:.2f}", f"{after.load_distance:.2f}"
    if plan.lower_bound is not None:
        yield "proven bound on d, gap", "", f"{number(plan.lower_bound, '', 2)}, {number(plan.gap, '', 2)}{proven}"
    yield (
        "busiest, mean executor",
        f"{before.max_load:.1f}, {before.mean:.1f}",
        f"{after.max_load:.1f}, {after.mean:.1f}",
    )
    yield "collocation factor", number(before.collocation_factor, " %"), number(after.collocation_factor, " %")
    yield "load index", f"{before.load_index:.1f} %", f"{after.load_index:.1f} %"
    if before.marked_groups or bool(proposal.model.marked.any()):
        yield "key groups on marked executors", str(before.marked_groups), str(after.marked_groups)
    yield "executors", str(int((~proposal.model.marked).sum())), f"{proposal.wish.needed} fit: {proposal.wish.why}"
    cost, most = (format_duration(round(seconds, 2)) for seconds in (proposal.cost_s, proposal.boundary_s))
    moved = sum(move.state_bytes for move in plan.moves) / 2**20
    yield "moves, their cost once, state", "", f"{len(plan.moves)}, {cost}, {moved:,.1f} MiB"
    yield "moves may add to one batch", "", most
    yield "time to plan", "", f"{plan.elapsed_s:.2f} s"


def _executors(proposal: Proposal) -> Table:
    model, plan = proposal.model, proposal.plan
    loads = [measures.utilisation(model, node_of) for node_of in (model.node_of, plan.node_of)]
    groups = [np.bincount(node_of, minlength=model.n_nodes) for node_of in (model.node_of, plan.node_of)]
    shown = chosen_nodes(loads[0], loads[1], MOST_EXECUTORS)
    top = max(100.0, float(max(load.max() for load in loads)))
    left_out = "" if shown.size == model.n_nodes else f", the {shown.size} farthest from the mean of {model.n_nodes}"
    table = Table(title=f"Load per executor, points of 100{left_out}", title_justify="left")
    for name, justify in (("executor", "left"), ("today", "right"), ("", "left"), ("after", "right"), ("", "left")):
        table.add_column(name, justify="right" if justify == "right" else "left", no_wrap=True)
    table.add_column("key groups", justify="right")
    for node in shown:
        name = model.node_ids[node] + (" (marked)" if model.marked[node] else "")
        cells: list[RenderableType] = [name]
        for load, style in zip(loads, ("yellow", "green"), strict=True):
            cells += [f"{load[node]:.1f}", Text(bar(100.0 * load[node] / top, BAR_CELLS), style=style)]
        table.add_row(*cells, f"{groups[0][node]} → {groups[1][node]}")
    return table


def chosen_nodes(today: FloatArray, after: FloatArray, most: int) -> IntArray:
    """At most `most` nodes, those farthest from the mean today or after; in their own order."""
    apart = np.maximum(np.abs(today - today.mean()), np.abs(after - after.mean()))
    return np.sort(np.argsort(-apart, kind="stable")[:most]).astype(np.int64)


def _moves(proposal: Proposal) -> RenderableType:
    model, moves = proposal.model, proposal.plan.moves
    if not moves:
        return Text("No key group moves.")
    counts = Counter(move.reason for move in moves)
    title = f"{moves_told(len(moves))}, in their order"
    table = Table(title=title, title_justify="left")
    for name in ("key group", "from", "to", "reason"):
        table.add_column(name)
    for name in ("load", "pause, s", "state, MiB"):
        table.add_column(name, justify="right")
    for move in moves[:MOST_MOVES]:
        group = model.group_ids[move.group]
        table.add_row(
            f"{group.operator}/{group.partition}",
            model.node_ids[move.source],
            model.node_ids[move.target],
            move.reason.value,
            f"{move.load:.2f}",
            f"{move.cost_s:.2f}",
            f"{move.state_bytes / 2**20:.1f}",
        )
    if len(moves) > MOST_MOVES:
        table.add_row(f"... and {len(moves) - MOST_MOVES} more", "", "", "", "", "", "")
    legend = [Text(f"{reason.value} ({count}): {REASONS[reason]}.") for reason, count in counts.most_common()]
    return Group(table, *legend)
