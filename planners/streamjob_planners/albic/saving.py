"""The load that collocation saves: serialising and reading remote data costs both ends (paper, sections 1, 4.3.2)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.albic.arrays import edges_of, sums
from streamjob_planners.model import FloatArray, IntArray, LoadModel


def predicted_load(model: LoadModel, node_of: IntArray) -> FloatArray:
    """Load of each key group if it ran on `node_of`, percent points, never below 0, (n_groups,).

    Traffic that becomes local saves `traffic_load_ratio` per byte/s at each end, traffic that becomes remote adds it.
    """
    if model.traffic is None or model.traffic_load_ratio == 0.0:
        return model.load
    edges = edges_of(model.traffic)
    was_remote = model.node_of[edges.row] != model.node_of[edges.col]
    is_remote = node_of[edges.row] != node_of[edges.col]
    change = edges.value * (is_remote.astype(np.float64) - was_remote.astype(np.float64))
    ends = sums(edges.row, change, model.n_groups) + sums(edges.col, change, model.n_groups)
    return np.asarray(np.maximum(model.load + model.traffic_load_ratio * ends, 0.0))


def moved_model(model: LoadModel, node_of: IntArray) -> LoadModel:
    """The load model as it would be measured after the key groups went to `node_of`."""
    return dataclasses.replace(model, node_of=node_of, load=predicted_load(model, node_of))
