"""The load that collocation saves enters every later step: the model as it would be measured after some moves.

Serialising and reading remote data costs both ends (ALBIC paper, sections 1 and 4.3.2); what becomes local is saved.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import IntArray, LoadModel, PlanParams


def moved_model(model: LoadModel, node_of: IntArray) -> LoadModel:
    """The load model as it would be measured once the key groups are at `node_of`, (n_groups,)."""
    if np.array_equal(node_of, model.node_of):
        return model
    return dataclasses.replace(model, node_of=node_of, load=measures.planned_load(model, node_of))


def planned_distance(model: LoadModel, node_of: IntArray) -> float:
    """Load distance at `node_of` with the planned loads, percent points."""
    return measures.load_distance(moved_model(model, node_of), node_of)


def no_worse(model: LoadModel, node_of: IntArray, params: PlanParams, *, saves: bool = True) -> bool:
    """Whether a placement is no worse than today's.

    The load distance may rise to drain marked nodes, and within max_load_distance to make traffic local. `saves`: with
    the planned loads too, not only with the measured ones.
    """
    if measures.marked_groups(model, node_of) < measures.marked_groups(model, model.node_of):
        return True
    before = measures.load_distance(model, model.node_of)
    after = measures.load_distance(model, node_of)
    if saves:
        after = max(after, planned_distance(model, node_of))
    if after <= before + 1e-9:
        return True
    local = measures.collocation_factor(model, node_of) or 0.0
    today = measures.collocation_factor(model, model.node_of) or 0.0
    return local > today and after <= params.max_load_distance
