"""Load models of a few key groups, by their loads and seconds alone."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from streamjob_planners import plans
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import GroupId, LoadModel, Plan


def placed(loads: Sequence[float], node_of: Sequence[int], *, nodes: int = 2, **changes: object) -> LoadModel:
    """Key groups of operator 0 on executors "0", "1" and so on of one slot each; moves are free."""
    n_groups = len(loads)
    plain = LoadModel(
        node_ids=tuple(str(node) for node in range(nodes)),
        capacity=np.ones(nodes),
        marked=np.zeros(nodes, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=0, partition=at) for at in range(n_groups)),
        node_of=np.array(node_of, dtype=np.int64),
        load=np.array(loads, dtype=np.float64),
        migration_cost_s=np.zeros(n_groups),
        state_bytes=np.zeros(n_groups),
        pinned=np.zeros(n_groups, dtype=np.bool_),
    )
    return dataclasses.replace(plain, **changes)  # type: ignore[arg-type]


def timed(seconds: Sequence[float], node_of: Sequence[int], *, nodes: int = 2, **batch: object) -> LoadModel:
    """The same with batches in which each key group takes so many seconds."""
    shape = BatchShape(
        level=np.zeros(len(seconds), dtype=np.int64),
        task_s=np.array(seconds, dtype=np.float64),
        spread_s=np.zeros(len(seconds)),
        slots=np.ones(nodes, dtype=np.int64),
        speed=np.ones(nodes),
    )
    shape = dataclasses.replace(shape, **batch)  # type: ignore[arg-type]
    return dataclasses.replace(placed(10.0 * shape.task_s, node_of, nodes=nodes), batch=shape)


def flags(count: int, *on: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """True at these places."""
    return np.isin(np.arange(count), on)


def moved(model: LoadModel, node_of: Sequence[int], **fields: object) -> Plan:
    """The plan that brings the key groups there."""
    plain = {"planner": "test", "elapsed_s": 0.0}
    return plans.make_plan(model, np.array(node_of, dtype=np.int64), **{**plain, **fields})  # type: ignore[arg-type]
