"""The load that collocation saves enters every later step: the model as it would be measured after some moves.

Serialising and reading remote data costs both ends (ALBIC paper, sections 1 and 4.3.2); what becomes local is saved.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import IntArray, LoadModel


def moved_model(model: LoadModel, node_of: IntArray) -> LoadModel:
    """The load model as it would be measured once the key groups are at `node_of`, (n_groups,)."""
    if np.array_equal(node_of, model.node_of):
        return model
    return dataclasses.replace(model, node_of=node_of, load=measures.planned_load(model, node_of))
