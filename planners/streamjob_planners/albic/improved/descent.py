"""Moves that make traffic local and levels even at once, counted in one measure: seconds of a batch.

A walk to a target and levelling after it undo each other where one budget must pay for both. Here the next move is
always the one that lowers, per cost of its key group, the root mean squares of the levels the most, with tasks as long
as they will be: one that reads locally is shorter by what collocation was learned to save (decision 0013).
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners import measures
from streamjob_planners.albic.task import Task
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.collocation.graph import affinity, undirected
from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import FloatArray, IntArray, LoadModel
from streamjob_planners.problem import compile_problem

MOST_CELLS = 4_000_000
"""Key groups times nodes beyond which one look at all moves would take the whole time."""
UNTIL = 0.75
"""Share of the time after which no move is looked for: levelling without regard to traffic is to have its own."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What stays the same.

    Attributes:
        graph: traffic between key groups, symmetric, bytes/s, (n_groups, n_groups).
        saved_s: seconds that a task gets shorter by for each byte/s that becomes local, (n_groups,).
        room: slots times speed of each node, (n_nodes,).
    """

    model: LoadModel
    shape: BatchShape
    graph: sparse.csr_array
    saved_s: FloatArray
    room: FloatArray


def descended(task: Task) -> IntArray:
    """Today's placement after the best moves, one by one, that there is room for, that the budget pays and that pay for
    themselves."""
    ground = _ground(task.model)
    if ground is None:
        return task.model.node_of
    model, cost, left = task.model, task.prices.cost, task.prices.limit
    books = Ledger(compile_problem(model, task.params))
    while not task.past(UNTIL):
        gain_s = _gains_s(ground, books.node_of)
        free = (cost <= left) & ~model.pinned & (books.node_of == model.node_of)
        pays = (
            (gain_s * task.params.payback_batches > model.migration_cost_s[:, None]) & free[:, None] & books.open_to()
        )
        worth = np.where(pays, gain_s / np.maximum(cost, 1e-9)[:, None], 0.0)
        group, node = np.unravel_index(int(worth.argmax()), worth.shape)
        if worth[group, node] <= 0.0 or not books.move(int(group), int(node)):
            break
        left -= float(cost[group])
    return books.node_of


def _ground(model: LoadModel) -> Ground | None:
    """None where there is nothing to save that anybody learned, or too much to look at."""
    shape = model.batch
    if shape is None or model.traffic is None or model.traffic_load_ratio <= 0.0:
        return None
    if model.n_groups * model.n_nodes > MOST_CELLS:
        return None
    seconds = np.divide(shape.task_s, model.load, out=np.zeros(model.n_groups), where=model.load > 0)
    return Ground(
        model=model,
        shape=shape,
        graph=undirected(model.traffic),
        saved_s=seconds * model.traffic_load_ratio,
        room=shape.slots * shape.speed,
    )


def _gains_s(ground: Ground, node_of: IntArray) -> FloatArray:
    """What moving each key group to each node lowers the sum of the levels' root mean squares by, seconds, to first
    order in the squares; (n_groups, n_nodes)."""
    level, room, each = ground.shape.level, ground.room, np.arange(node_of.size)
    planned = measures.planned_batch(ground.model, node_of) or ground.shape
    cells = np.bincount(level * room.size + node_of, planned.task_s, ground.shape.n_levels * room.size)
    work_s = cells.reshape(-1, room.size) / room
    staying = np.count_nonzero(~ground.model.marked)
    slope = 1.0 / np.maximum(2.0 * np.sqrt((work_s**2).sum(axis=1) * staying), 1e-12)[level]  # of a square in the root
    here, there = work_s[level, node_of], work_s[level]
    near = affinity(ground.graph, node_of, room.size)
    saved_s = ground.saved_s[:, None] * (near - near[each, node_of][:, None])
    less = here**2 - (here - planned.task_s / room[node_of]) ** 2
    more = (there + (planned.task_s[:, None] - saved_s) / room) ** 2 - there**2
    # Its partners' tasks change with it, where the partners are.
    partner = 2.0 * slope * here * ground.saved_s / room[node_of]
    theirs = affinity(sparse.csr_array(ground.graph * partner[None, :]), node_of, room.size)
    gain_s = slope[:, None] * (less[:, None] - more) + theirs - theirs[each, node_of][:, None]
    gain_s[each, node_of] = 0.0
    return np.asarray(gain_s, dtype=np.float64)
