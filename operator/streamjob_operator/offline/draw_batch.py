"""A predicted batch as a picture: what each slot of each executor does when, today and after a plan."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from matplotlib.axes import Axes
from matplotlib.patches import Patch

from streamjob_operator.offline.proposal import Proposal
from streamjob_operator.report_plots import BAD, FAINT, INK
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch.timetable import Timetable, timetable
from streamjob_planners.model import IntArray

MOST_ROWS = 24
"""Slots that are drawn at most: those of the executors that end last."""
LEVEL_COLOURS = ("#1c7ed6", "#f08c00", "#2f9e44", "#9c36b5", "#e8590c")
FIXED, FREE = "#ced4da", "#adb5bd"


def draw_batches(axes: Sequence[Axes], proposal: Proposal) -> None:
    """Today above, after the plan below, on one time axis."""
    shape = proposal.model.batch
    if shape is None:
        raise ValueError("batch: the model says nothing of batches")
    tables = [timetable(shape, node_of) for node_of in (proposal.model.node_of, proposal.plan.node_of)]
    end_s = 1.03 * max(table.level_start_s[-1] for table in tables)
    nodes = _chosen(shape, proposal.model.node_of, proposal.plan.node_of)
    for one, table, when in zip(axes, tables, ("today", "after the plan"), strict=True):
        _draw(one, proposal, table, nodes)
        one.set_xlim(0, end_s)
        one.set_title(f"A batch {when}: {table.level_start_s[-1]:.2f} s if every task takes its mean", loc="left")
    if proposal.plan.batch_bound_s is not None:
        axes[1].axvline(proposal.plan.batch_bound_s, color=BAD, linewidth=1, linestyle="--")
    axes[1].set_xlabel("seconds from the batch's start; dashed: no placement within the budget takes less")
    _legend(axes[0], shape)


def _chosen(shape: BatchShape, today: IntArray, after: IntArray) -> list[int]:
    """The executors that are drawn, in their own order."""
    busy_s = [np.bincount(node_of, shape.task_s, shape.slots.size) / shape.slots for node_of in (today, after)]
    order = np.argsort(-np.maximum(*busy_s), kind="stable")
    fits = order[np.cumsum(shape.slots[order]) <= MOST_ROWS]
    return sorted(fits.tolist() or order[:1].tolist())


def _draw(axes: Axes, proposal: Proposal, table: Timetable, nodes: list[int]) -> None:
    shape = proposal.model.batch
    slots = {} if shape is None else {node: int(shape.slots[node]) for node in nodes}
    rows = {(node, slot): 0 for node in nodes for slot in range(slots[node])}
    rows = {key: at for at, key in enumerate(rows)}
    top = len(rows)
    axes.barh(np.arange(top), table.fixed_s, height=1.0, color=FIXED, linewidth=0)
    axes.barh(np.arange(top), table.free_s, left=table.fixed_s, height=1.0, color=FREE, linewidth=0)
    for run in table.runs:
        at = rows.get((run.node, run.slot))
        if at is not None:
            colour = LEVEL_COLOURS[run.level % len(LEVEL_COLOURS)]
            length_s = run.end_s - run.start_s
            axes.barh(at, length_s, left=run.start_s, height=0.8, color=colour, edgecolor="white", linewidth=0.6)
    for start_s in table.level_start_s:
        axes.axvline(start_s, color=INK, linewidth=0.8)
    axes.set_yticks(range(top), [_label(proposal, node, slot, slots[node]) for node, slot in rows])
    axes.set_ylim(top - 0.5, -0.5)
    axes.grid(visible=False)
    axes.tick_params(axis="y", colors=INK, color=FAINT)


def _label(proposal: Proposal, node: int, slot: int, slots: int) -> str:
    name = f"executor {proposal.model.node_ids[node]}" + ("*" if proposal.model.marked[node] else "")
    if slot:
        return ""
    return name if slots == 1 else f"{name}, {slots} slots"


def _legend(axes: Axes, shape: BatchShape) -> None:
    handles = [Patch(color=FIXED, label="planning, commits, launches")]
    if shape.free_stages:
        handles.append(Patch(color=FREE, label="stages without key groups"))
    handles += [
        Patch(color=LEVEL_COLOURS[level % len(LEVEL_COLOURS)], label=f"stage {level + 1}: a bar is a key group")
        for level in range(min(shape.n_levels, len(LEVEL_COLOURS)))
    ]
    axes.legend(handles=handles, loc="upper left", bbox_to_anchor=(1.0, 1.0))
