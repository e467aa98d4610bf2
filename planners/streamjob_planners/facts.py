"""The judge's own arithmetic: the figures of a placement, worked out apart from `measures`."""

from __future__ import annotations

import dataclasses
import math

import numpy as np

from streamjob_planners.model import FloatArray, IntArray, LoadModel

CLOSE = 1e-6
"""Difference, relative or absolute, that two ways of adding up the same floats may show."""


def same(a: float, b: float) -> bool:
    """Whether two figures differ by rounding only."""
    return math.isclose(a, b, rel_tol=CLOSE, abs_tol=CLOSE)


def mean(model: LoadModel) -> float:
    """All load shared out over the capacity that stays, percent points."""
    staying = [float(weight) for weight, leaves in zip(model.capacity, model.marked, strict=True) if not leaves]
    return math.fsum(model.load) / math.fsum(staying)


def used(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Utilisation of each node, percent points, (n_nodes,)."""
    total = np.zeros(len(model.node_ids))
    np.add.at(total, node_of, model.load)
    return total / model.capacity


def distance(model: LoadModel, node_of: IntArray) -> float:
    """Load distance over the unmarked nodes, percent points."""
    centre = mean(model)
    staying = used(model, node_of)[np.logical_not(model.marked)]
    return max(abs(float(value) - centre) for value in staying)


def on_marked(model: LoadModel, node_of: IntArray) -> int:
    """Groups on nodes that are to be removed."""
    leaving = set(np.flatnonzero(model.marked).tolist())
    return sum(1 for node in node_of.tolist() if node in leaving)


def local_traffic(model: LoadModel, node_of: IntArray) -> float:
    """Bytes/s between groups that share a node."""
    return math.fsum(rate for i, j, rate in _pairs(model) if node_of[i] == node_of[j])


def all_traffic(model: LoadModel) -> float:
    """Bytes/s that groups send in all: of each group its pairs, or what it is known to send if that is more."""
    sent = [0.0] * len(model.group_ids)
    for i, _, rate in _pairs(model):
        sent[i] += rate
    told = sent if model.traffic is None or model.traffic_out is None else model.traffic_out.tolist()
    return math.fsum(max(one, other) for one, other in zip(sent, told, strict=True))


def recomputed(model: LoadModel, node_of: IntArray) -> dict[str, float | None]:
    """Every field of an Effect."""
    total = all_traffic(model)
    today = math.fsum(model.load)
    return {
        "load_distance": distance(model, node_of),
        "load_index": 100.0 * _total_load(model, node_of) / today if today > 0 else 100.0,
        "mean": mean(model),
        "max_load": float(np.max(used(model, node_of))),
        "marked_groups": on_marked(model, node_of),
        "collocation_factor": 100.0 * local_traffic(model, node_of) / total if total > 0 else None,
        **batch_facts(model, node_of),
    }


def batch_facts(model: LoadModel, node_of: IntArray) -> dict[str, float | None]:
    """The batch's length if every task takes its mean, and the root mean squares of its levels; seconds."""
    shape = model.batch
    if shape is None:
        return {"batch_s": None, "level_rms_s": None}
    slots = int(np.sum(shape.slots))
    free = [
        max(math.fsum(one.work_s for one in beside) / slots, *(one.longest_s for one in beside))
        for level in {stage.level for stage in shape.free_stages}
        if (beside := [one for one in shape.free_stages if one.level == level])
    ]
    ends = [level_ends(model, node_of, level) for level in range(shape.n_levels)]
    staying = len(model.node_ids) - int(np.count_nonzero(model.marked))
    return {
        "batch_s": math.fsum([shape.fixed_s, *free, *(max(level) for level in ends)]),
        "level_rms_s": math.fsum(
            math.sqrt(math.fsum(busy * busy for busy in level_work(model, node_of, level)) / staying)
            for level in range(shape.n_levels)
        ),
    }


def series_s(model: LoadModel, node_of: IntArray) -> float | None:
    """What batches of the series take on average: the slowest node's work per slot, level after level, seconds.

    A task takes its mean times its load in a window over its mean load. None without a series or a batch.
    """
    shape, series = model.batch, model.load_series
    if shape is None or series is None:
        return None
    loads = series[series.sum(axis=1) > 0]
    if not len(loads):
        return None
    means, taken = np.mean(loads, axis=0), []
    for row in loads:
        ends = np.zeros((shape.n_levels, len(model.node_ids)))
        for group, node in enumerate(node_of.tolist()):
            turn = row[group] / means[group] if means[group] > 0 else 1.0
            ends[shape.level[group], node] += turn * shape.task_s[group]
        taken.append(float(np.sum(np.max(ends / (shape.slots * shape.speed), axis=1))))
    return math.fsum(taken) / len(taken)


def level_work(model: LoadModel, node_of: IntArray, level: int) -> list[float]:
    """Seconds of a level's work on each slot of a node, if it could be shared out evenly among its slots."""
    shape, work = model.batch, [0.0] * len(model.node_ids)
    if shape is None:
        return work
    for group, node in enumerate(node_of.tolist()):
        if shape.level[group] == level:
            work[node] += float(shape.task_s[group])
    return [total / float(shape.slots[node] * shape.speed[node]) for node, total in enumerate(work)]


def level_ends(model: LoadModel, node_of: IntArray, level: int) -> list[float]:
    """When each node has done its tasks of a level, one after another on the slot that is idle longest; seconds."""
    shape = model.batch
    if shape is None:
        return []
    busy = [[0.0] * int(slots) for slots in shape.slots]
    for group, node in enumerate(node_of.tolist()):
        if shape.level[group] == level:
            first = busy[node].index(min(busy[node]))
            busy[node][first] += float(shape.task_s[group] / shape.speed[node])
    return [max(ends) for ends in busy]


def _pairs(model: LoadModel) -> list[tuple[int, int, float]]:
    if model.traffic is None:
        return []
    matrix, found = model.traffic, []
    for row in range(len(model.group_ids)):
        start, stop = int(matrix.indptr[row]), int(matrix.indptr[row + 1])
        found += [(row, int(matrix.indices[at]), float(matrix.data[at])) for at in range(start, stop)]
    return found


def planned_batch_s(model: LoadModel, node_of: IntArray) -> float | None:
    """The batch with each task as much shorter or longer as its key group's load will be less or more; seconds."""
    shape = model.batch
    if shape is None:
        return None
    task_s = [
        float(seconds) * (planned / float(load) if load > 0 else 1.0)
        for seconds, planned, load in zip(shape.task_s, _planned_load(model, node_of), model.load, strict=True)
    ]
    then = dataclasses.replace(model, batch=dataclasses.replace(shape, task_s=np.array(task_s)))
    return batch_facts(then, node_of)["batch_s"]


def _total_load(model: LoadModel, node_of: IntArray) -> float:
    """System load, percent points."""
    return math.fsum(_planned_load(model, node_of))


def _planned_load(model: LoadModel, node_of: IntArray) -> list[float]:
    """Of each group: newly local traffic saves its ratio at both ends, newly remote traffic costs as much."""
    load = [float(value) for value in model.load]
    for i, j, rate in _pairs(model):
        was, now = bool(model.node_of[i] == model.node_of[j]), bool(node_of[i] == node_of[j])
        for end in (i, j):
            load[end] -= (now - was) * rate * model.traffic_load_ratio
    return [max(0.0, value) for value in load]
