"""A batch as cells: what one node does in one level. Seconds take the place of percent points."""

from __future__ import annotations

import numpy as np

from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.kernel.cells import loads_of
from streamjob_planners.kernel.state import Fixed
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

LEAST_DRAG_RATIO = 0.05
"""Part of the mean task that leaving a marked node is worth on top, so that groups without work leave it too."""


def cells_of(problem: Problem, shape: BatchShape) -> Fixed:
    """The problem as arrays of the inner loops, a cell per level and node; `shape`: its model's batch."""
    model = problem.model
    n_nodes, n_levels = model.n_nodes, max(shape.n_levels, 1)
    nodes = np.tile(np.arange(n_nodes), n_levels)
    task_s = np.array(shape.task_s, dtype=np.float64)
    home = (shape.level * n_nodes + model.node_of).astype(np.int64)
    return Fixed(
        load=task_s,
        drag=task_s + max(LEAST_DRAG_RATIO * float(task_s.mean()), 1e-9) if task_s.size else task_s,
        prices=np.ascontiguousarray(problem.prices, dtype=np.float64),
        allowances=problem.allowances,
        capacity=(shape.slots * shape.speed)[nodes].astype(np.float64),
        marked=np.array(model.marked[nodes], dtype=np.bool_),
        vacant=empty_nodes(model)[nodes],
        movable=np.array(problem.movable, dtype=np.bool_),
        uses=problem.uses,
        limits=problem.limits,
        home=home,
        receivers=np.flatnonzero(problem.open_nodes).astype(np.int64),
        base=np.repeat(np.arange(n_levels) * n_nodes, n_nodes),
        node=nodes,
        slots=shape.slots[nodes].astype(np.int64),
        own=np.zeros(np.count_nonzero(problem.movable), dtype=np.int64),
        own_load=np.zeros(np.count_nonzero(problem.movable)),
        first=np.zeros(nodes.size + 1, dtype=np.int64),
    )


def ends_s(fixed: Fixed, node_of: IntArray) -> FloatArray:
    """When each node ends its part of each level under a placement, seconds, (n_levels, n_nodes)."""
    return (loads_of(fixed, node_of) / fixed.capacity).reshape(-1, fixed.limits.shape[1])


def busy_s(fixed: Fixed, node_of: IntArray) -> FloatArray:
    """Work per slot of each node in each level under a placement, seconds, (n_levels, n_nodes)."""
    cells = fixed.base[fixed.home] + node_of
    work = np.bincount(cells, fixed.load, fixed.capacity.size)
    return (work / fixed.capacity).reshape(-1, fixed.limits.shape[1])
