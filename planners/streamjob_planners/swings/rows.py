"""Batches of a series as the inner loops want them, and as a judge of placements."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.batch.predict import batches_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.kernel.state import Fixed
from streamjob_planners.kernel.swing import Rows
from streamjob_planners.model import FloatArray, IntArray, LoadModel
from streamjob_planners.swings.common import LEAST_SWING, swing_ratio

MOST_CELLS = 3_000
"""Nodes times levels up to which they are: the slowest of a level is searched for among its nodes."""

MOST_TASKS = 500_000
"""Batches times key groups up to which they are: all are added up after each pass, some milliseconds."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batches:
    """Seconds of each group's task in the batches of a series, (n_rows, n_groups)."""

    shape: BatchShape
    task_s: FloatArray

    def mean_s(self, node_of: IntArray) -> float:
        """A batch at a placement, the mean of all, seconds."""
        return float(batches_s(self.shape, node_of, self.task_s).mean())


def batches_of(model: LoadModel) -> Batches | None:
    """Batches whose tasks take their mean times their load over its mean; None where loads do not swing, nobody
    knows, or the model is too large."""
    shape, series = model.batch, model.load_series
    if shape is None or series is None:
        return None
    large = shape.n_levels * model.n_nodes > MOST_CELLS or series.size > MOST_TASKS
    if large or swing_ratio(series) < LEAST_SWING:
        return None
    loads = series[series.sum(axis=1) > 0]
    mean = loads.mean(axis=0)
    turn = np.divide(loads, mean, out=np.ones_like(loads), where=mean > 0)
    return Batches(shape=shape, task_s=turn * shape.task_s)


def rows_of(fixed: Fixed, task_s: FloatArray, node_of: IntArray) -> Rows:
    """Batches whose tasks take `task_s`, (n_rows, n_groups), at a placement."""
    n_rows, n_nodes = len(task_s), fixed.limits.shape[1]
    task_s = np.ascontiguousarray(task_s.T)
    ends = np.zeros((fixed.capacity.size, n_rows))
    np.add.at(ends, fixed.base[fixed.home] + node_of, task_s)
    ends /= fixed.capacity[:, None]
    return Rows(task_s=task_s, ends=ends, tops=ends.reshape(-1, n_nodes, n_rows).max(axis=1))
