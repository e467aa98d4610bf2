"""ALBIC where the time of a batch counts: collocation has to pay in seconds, and levels are what is levelled.

Traffic that cannot save, within the payback, what its moves cost is no reason to plan for it. Of the plans that keep
key groups together, and the plan that does not, the one stays with the shortest batch, less what local traffic saves.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners import acceptance, measures, traffic, what_if
from streamjob_planners.albic.improved.descent import descended
from streamjob_planners.albic.step_1_scores import Pairs
from streamjob_planners.albic.task import Task
from streamjob_planners.model import Budget, IntArray, LoadModel, PlanParams

KEEPING_SHARE = 0.4
"""Part of the time left for the plan that keeps key groups together."""


def plan_by_time(task: Task, pairs: Pairs, walked: Callable[[IntArray], IntArray]) -> IntArray:
    """The placement of one round, (n_groups,).

    `pairs`: those that are worth keeping together; `walked` makes traffic local, as far as the budget pays.
    """
    model, today = task.model, task.model.node_of
    found = [today]
    if model.traffic is not None:
        gathered = walked(today)
        gathered = gathered if _pays(task, gathered) else today
        found += [gathered, _levelled(task, gathered, _together(pairs, gathered), KEEPING_SHARE)]
        found.append(descended(task))
    if not task.expired():
        found.append(_levelled(task, today, np.empty(0, dtype=np.int64), 1.0))
    fit = [one for one in found if acceptance.no_worse(model, one, task.params)]
    return min(fit, key=lambda one: _cost(task, one))


def _pays(task: Task, node_of: IntArray) -> bool:
    """Whether local traffic saves what its moves cost, within the payback."""
    within_s = traffic.payback_s(task.model, task.params)
    cost_s = float(task.model.migration_cost_s[node_of != task.model.node_of].sum())
    return traffic.saved_s(task.model, node_of, within_s) >= cost_s


def _together(pairs: Pairs, node_of: IntArray) -> IntArray:
    """Key groups that share a node with a partner."""
    kept = pairs.where(pairs.collocated(node_of))
    return np.union1d(kept.first, kept.second)


def _levelled(task: Task, node_of: IntArray, stays: IntArray, time_share: float) -> IntArray:
    """The inner solver's placement with what is left of the budget; `stays`, and what has moved already, do not move.

    Key groups on marked nodes may always go.
    """
    model = what_if.with_owners(task.model, node_of)
    held = task.model.node_of != node_of
    held[stays] = True
    held &= ~model.marked[node_of]
    params = dataclasses.replace(
        task.params,
        budget=_rest(task.model, task.params, node_of),
        deadline_s=time_share * task.left_s(),
    )
    pinned = dataclasses.replace(model, pinned=model.pinned | held, traffic=None)
    return task.inner.solve(pinned, params, task.rng, task.clock).node_of


def _rest(model: LoadModel, params: PlanParams, node_of: IntArray) -> Budget:
    """What the budget still pays when the key groups are at `node_of`."""
    moved, budget = node_of != model.node_of, params.budget
    most = budget.max_migrations
    return Budget(
        max_cost_s=_less(budget.max_cost_s, float(model.migration_cost_s[moved].sum())),
        max_migrations=None if most is None else max(0, most - int(moved.sum())),
        max_state_bytes=_less(budget.max_state_bytes, float(model.state_bytes[moved].sum())),
    )


def _less(limit: float | None, spent: float) -> float | None:
    return None if limit is None else max(0.0, limit - spent)


def _cost(task: Task, node_of: IntArray) -> tuple[int, float, float]:
    """Key groups on marked nodes; the batch, with what local traffic is known to save, or else less the work, over all
    slots, that it saves at most; evenness."""
    model = task.model
    shape, batch_s = model.batch, acceptance.planned_batch_s(model, node_of)
    if shape is None or batch_s is None:
        raise ValueError("model: it predicts no batches")
    if model.traffic_load_ratio == 0.0:
        batch_s -= traffic.saved_s(model, node_of, batch_s) / float(shape.slots[~model.marked].sum())
    return measures.marked_groups(model, node_of), round(batch_s, 6), measures.level_rms_s(model, shape, node_of)
