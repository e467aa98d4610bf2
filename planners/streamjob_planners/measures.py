"""What a placement is worth: load distance, load index, collocation factor, and what skew makes impossible.

All figures use the loads as measured (`model.load`). What a collocation saves shows in `load_index` and in
`planned_load` only: the load distance of a plan is then comparable with every lower bound.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.batch.predict import ends, noise_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.called import called
from streamjob_planners.model import Effect, FloatArray, IntArray, LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SkewFloor:
    """One key group that is so heavy that it alone decides the load distance. `sentence` says so to a person."""

    load_distance: float
    group: int
    sentence: str


def node_loads(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Sum of the groups' loads per node, percent points of a reference node, (n_nodes,)."""
    return np.bincount(node_of, weights=model.load, minlength=model.n_nodes).astype(np.float64)


def utilisation(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Load over capacity per node, percent points, (n_nodes,)."""
    return node_loads(model, node_of) / model.capacity


def mean_utilisation(model: LoadModel) -> float:
    """Total load of all nodes over the capacity of the unmarked ones (ALBIC paper, table 2, not rounded)."""
    return float(model.load.sum() / model.capacity[~model.marked].sum())


def load_distance(model: LoadModel, node_of: IntArray) -> float:
    """Largest difference between an unmarked node's utilisation and the mean, percent points (table 2, d)."""
    apart = np.abs(utilisation(model, node_of) - mean_utilisation(model))
    return float(apart[~model.marked].max())


def sent_bps(model: LoadModel) -> FloatArray:
    """Bytes/s that each group sends in all, pairs that nobody reported included where that is known, (n_groups,)."""
    if model.traffic is None:
        return np.zeros(model.n_groups)
    known = np.asarray(model.traffic.sum(axis=1), dtype=np.float64).ravel()
    return known if model.traffic_out is None else np.maximum(known, model.traffic_out)


def collocation_factor(model: LoadModel, node_of: IntArray) -> float | None:
    """Percent of all that is sent whose two ends share a node; None without traffic.

    Pairs that nobody reported count as remote: with the heaviest pairs alone it is so much at least.
    """
    if model.traffic is None:
        return None
    pairs = model.traffic.tocoo()
    total = float(sent_bps(model).sum())
    if total <= 0:
        return None
    local = node_of[pairs.row] == node_of[pairs.col]
    return 100.0 * float(pairs.data[local].sum()) / total


def planned_load(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Load of each group once `node_of` holds, percent points, (n_groups,).

    Traffic that becomes local saves `traffic_load_ratio` at each end, traffic that becomes remote costs as much.
    """
    if model.traffic is None or model.traffic_load_ratio == 0.0:
        return model.load
    pairs = model.traffic.tocoo()
    was_local = model.node_of[pairs.row] == model.node_of[pairs.col]
    is_local = node_of[pairs.row] == node_of[pairs.col]
    saved = pairs.data * (is_local.astype(np.float64) - was_local) * model.traffic_load_ratio
    both_ends = np.bincount(pairs.row, saved, model.n_groups) + np.bincount(pairs.col, saved, model.n_groups)
    return np.maximum(model.load - both_ends, 0.0)


def planned_batch(model: LoadModel, node_of: IntArray) -> BatchShape | None:
    """What a batch takes once `node_of` holds: a task's seconds change as its key group's load does; None without."""
    return batch_at(model, planned_load(model, node_of))


def batch_at(model: LoadModel, load: FloatArray) -> BatchShape | None:
    """The batch with each task as much shorter or longer as its key group's load, (n_groups,), is less or more."""
    shape = model.batch
    if shape is None or load is model.load:
        return shape
    change = np.divide(load, model.load, out=np.ones(model.n_groups), where=model.load > 0)
    return dataclasses.replace(shape, task_s=shape.task_s * change)


def load_index(model: LoadModel, node_of: IntArray) -> float:
    """Expected system load in percent of today's (section 5: load over the load at the start); 100.0 without load."""
    today = float(model.load.sum())
    return 100.0 * float(planned_load(model, node_of).sum()) / today if today > 0 else 100.0


def marked_groups(model: LoadModel, node_of: IntArray) -> int:
    """Key groups that are on marked nodes."""
    return int(np.count_nonzero(model.marked[node_of]))


def drains(model: LoadModel, node_of: IntArray) -> bool:
    """Whether fewer key groups are on marked nodes than today."""
    return marked_groups(model, node_of) < marked_groups(model, model.node_of)


def level_rms_s(model: LoadModel, shape: BatchShape, node_of: IntArray) -> float:
    """Sum over levels of the root mean square of the nodes' seconds of work per slot.

    Marked nodes have a share, but do not share. Work per slot and not the end of the last task: on several slots one
    of six equal tasks less would end no sooner, and empty nodes would stay so.
    """
    cells = np.bincount(
        (shape.level * model.n_nodes + node_of).astype(np.int64), shape.task_s, shape.n_levels * model.n_nodes
    )
    work_s = cells.reshape(shape.n_levels, model.n_nodes) / (shape.slots * shape.speed)
    squares = (work_s**2).sum(axis=1) / np.count_nonzero(~model.marked)
    return float(np.sqrt(squares).sum())


def effect(model: LoadModel, node_of: IntArray) -> Effect:
    """All figures of a placement. `node_of`: (n_groups,), indices of nodes."""
    shape = model.batch
    batch = None if shape is None else ends(shape, node_of)
    return Effect(
        load_distance=load_distance(model, node_of),
        load_index=load_index(model, node_of),
        mean=mean_utilisation(model),
        max_load=float(utilisation(model, node_of).max()),
        marked_groups=marked_groups(model, node_of),
        collocation_factor=collocation_factor(model, node_of),
        batch_s=None if batch is None else batch.batch_s,
        noise_s=None if shape is None or batch is None else noise_s(shape, node_of, batch.node_s),
        level_rms_s=None if shape is None else level_rms_s(model, shape, node_of),
    )


def skew_floor(model: LoadModel) -> SkewFloor | None:
    """The heaviest group on unmarked nodes, when it alone keeps the load distance above 0; None otherwise.

    A group that is still on a marked node is left out: no plan is obliged to move it within one round.
    """
    mean = mean_utilisation(model)
    heavy = np.flatnonzero(model.load > mean * model.capacity[~model.marked].min())
    staying = heavy[~model.marked[model.node_of[heavy]]]
    if staying.size == 0:
        return None
    widest = float(model.capacity[~model.marked].max())
    room = np.where(model.pinned[staying], model.capacity[model.node_of[staying]], widest)
    alone = model.load[staying] / room
    heaviest = int(alone.argmax())
    floor = float(alone[heaviest]) - mean
    if floor <= 0:
        return None
    group = int(staying[heaviest])
    name = called(model, group)
    sentence = (
        f"{name[0].upper()}{name[1:]} alone needs {model.load[group]:.1f} points: no plan can bring the load "
        f"distance below {floor:.1f}."
    )
    return SkewFloor(load_distance=floor, group=group, sentence=sentence)
