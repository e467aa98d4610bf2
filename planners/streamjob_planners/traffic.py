"""What traffic between key groups is worth at most, in seconds of work: whether collocation can pay for its moves."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import IntArray, LoadModel, Objective, PlanParams

REMOTE_S_PER_BYTE = 1e-7
"""What a remote byte is taken to cost at most until more is known: 10 MB/s, a slow network and serialisation."""
PAYBACK_S = 3600.0
"""Time within which moves for the sake of collocation must save what they cost, where batches do not say it."""


def payback_s(model: LoadModel, params: PlanParams) -> float:
    """Seconds within which a move must pay: so many batches by batch time, an hour by load distance."""
    if params.objective_of(model) is not Objective.BATCH_TIME:
        return PAYBACK_S
    batch_s, _ = measures.effect(model, model.node_of).seconds
    return params.payback_batches * batch_s


def saved_s(model: LoadModel, node_of: IntArray, within_s: float = PAYBACK_S) -> float:
    """Seconds of work that `node_of` saves in that time, at most, by traffic that becomes local."""
    return within_s * (local_bps(model, node_of) - local_bps(model, model.node_of)) * remote_s_per_byte(model)


def worth_planning(model: LoadModel, within_s: float = PAYBACK_S) -> LoadModel:
    """The model without its traffic when no key group's traffic could pay for moving it within that time.

    A move makes at most what its key group sends and receives local, so several moves pay no better than their key
    groups alone. A planner would else spend the budget on a collocation factor that is made of next to nothing.
    """
    if model.traffic is None:
        return model
    own_bps = np.asarray(model.traffic.sum(axis=0) + model.traffic.sum(axis=1), dtype=np.float64).ravel()
    pays = within_s * own_bps * remote_s_per_byte(model) >= model.migration_cost_s
    return model if bool((pays & (own_bps > 0)).any()) else dataclasses.replace(model, traffic=None)


def local_bps(model: LoadModel, node_of: IntArray) -> float:
    """Bytes per second between key groups that share a node."""
    if model.traffic is None:
        return 0.0
    pairs = model.traffic.tocoo()
    return float(pairs.data[node_of[pairs.row] == node_of[pairs.col]].sum())


def remote_s_per_byte(model: LoadModel) -> float:
    """Seconds of work that a remote byte costs both its ends, at most."""
    return max(REMOTE_S_PER_BYTE, 2.0 * model.traffic_load_ratio / 100.0)
