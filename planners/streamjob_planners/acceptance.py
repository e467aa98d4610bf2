"""Whether a placement may replace today's: what planners ask before they answer."""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.batch.predict import ends
from streamjob_planners.model import BoolArray, Effect, IntArray, LoadModel, Objective, PlanParams

CLEAR = 2e-6
"""Seconds, and part of a batch, from which a difference is more than what adding up floats in another order makes."""

ROUNDING = 1e-9
"""Seconds and percent points that sums of the same floats may differ by."""


def no_worse(
    model: LoadModel, node_of: IntArray, params: PlanParams, *, collocates: bool = True, saves: bool = True
) -> bool:
    """Whether a placement is no worse than today's by the objective that holds; anything goes that drains.

    `collocates`: the load distance may rise, within max_load_distance, to make traffic local. `saves`: it is kept with
    the loads that are left after what collocation saves too, not only with the measured ones.
    """
    if measures.drains(model, node_of):
        return True
    before, after = measures.effect(model, model.node_of), measures.effect(model, node_of)
    if params.objective_of(model) is Objective.BATCH_TIME:
        return _no_longer(before, after) or (collocates and saves and _shorter_by_savings(model, node_of, before))
    distance = max(after.load_distance, planned_distance(model, node_of)) if saves else after.load_distance
    local, today = after.collocation_factor or 0.0, before.collocation_factor or 0.0
    joins = collocates and local > today and distance <= params.max_load_distance
    return joins or distance <= before.load_distance + ROUNDING


def planned_batch_s(model: LoadModel, node_of: IntArray) -> float | None:
    """A batch at `node_of` with the seconds of tasks that are left after what collocation saves; None without one."""
    shape = measures.planned_batch(model, node_of)
    return None if shape is None else ends(shape, node_of).batch_s


def no_longer_then(model: LoadModel, node_of: IntArray, before: Effect) -> bool:
    """Whether a batch at `node_of`, with what collocation saves, takes no longer than one did before; False without."""
    planned_s = planned_batch_s(model, node_of)
    return planned_s is not None and before.batch_s is not None and planned_s <= before.batch_s + ROUNDING


def _shorter_by_savings(model: LoadModel, node_of: IntArray, before: Effect) -> bool:
    """Whether what collocation saves makes the batch shorter, though levels get less even."""
    planned_s = planned_batch_s(model, node_of)
    if planned_s is None or before.batch_s is None:
        return False
    return before.batch_s - planned_s > CLEAR * max(1.0, before.batch_s)


def planned_distance(model: LoadModel, node_of: IntArray) -> float:
    """Load distance at `node_of` with the loads that are left after what collocation saves, percent points."""
    use = np.bincount(node_of, measures.planned_load(model, node_of), model.n_nodes) / model.capacity
    mean = measures.planned_load(model, node_of).sum() / model.capacity[~model.marked].sum()
    return float(np.abs(use - mean)[~model.marked].max())


def _no_longer(before: Effect, after: Effect) -> bool:
    """Whether the batch is shorter, or as long with the second measure no larger."""
    (before_s, was_s), (after_s, now_s) = before.seconds, after.seconds
    if before_s - after_s > CLEAR * max(1.0, before_s):
        return True
    return after_s <= before_s + ROUNDING and now_s - was_s <= ROUNDING


def pays(model: LoadModel, node_of: IntArray, params: PlanParams) -> bool:
    """Whether the moves to `node_of` are worth their pause within `payback_batches`; models with a `batch`.

    They gain what the batch gets shorter by, and the second measure, which is a gain in reach; they cost what all of
    them, made at one boundary, add to the batch after it. Moves that drain, or bring work to a node that has none, are
    worth any pause.
    """
    if model.batch is None or urgent(model, node_of):
        return True
    (before_s, was_s), (after_s, now_s) = (measures.effect(model, one).seconds for one in (model.node_of, node_of))
    shorter_s, evener_s = before_s - after_s, was_s - now_s
    loading_s = np.where(node_of != model.node_of, model.migration_cost_s, 0.0)
    cost_s = ends(model.batch, node_of, loading_s).batch_s - after_s
    return bool((shorter_s + evener_s) * params.payback_batches >= cost_s)


def urgent(model: LoadModel, node_of: IntArray) -> bool:
    """Whether a placement drains, or fills an open node that has nothing today."""
    if measures.drains(model, node_of):
        return True
    return bool((empty_nodes(model) & (np.bincount(node_of, minlength=model.n_nodes) > 0)).any())


def empty_nodes(model: LoadModel) -> BoolArray:
    """Open nodes without a key group, (n_nodes,): new ones, most likely."""
    empty: BoolArray = ~model.marked & (np.bincount(model.node_of, minlength=model.n_nodes) == 0)
    return empty


def permitted(model: LoadModel, node_of: IntArray) -> IntArray:
    """The placement with key groups left where they are that may not go: pinned ones, and none to marked nodes."""
    stays = model.pinned | model.marked[node_of]
    return np.where(stays, model.node_of, node_of)
