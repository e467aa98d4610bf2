"""From a new placement to a plan: moves in order, effects before and after, what is proven."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners import bound, measures
from streamjob_planners.batch.bound import batch_bound
from streamjob_planners.batch.predict import rest_s
from streamjob_planners.model import BoolArray, Clock, Effect, IntArray, LoadModel, Objective, Plan, PlanParams
from streamjob_planners.ordering import ordered_moves

PROOF_SLACK = 1e-4
"""Percent points by which a plan may miss the lower bound and still count as proven optimal."""
BATCH_SLACK_RATIO = 1e-6
"""Part of the batch by which it may miss its bound and still count as proven optimal."""
S_PER_GROUP = 2e-5
"""Time that a bound on the batch takes for each key group at most, far above what was measured."""


def make_plan(
    model: LoadModel,
    node_of: IntArray,
    *,
    planner: str,
    elapsed_s: float,
    lower_bound: float | None = None,
    batch_bound_s: float | None = None,
    notes: tuple[str, ...] = (),
    collocating: BoolArray | None = None,
) -> Plan:
    """The plan that leads from today's placement to `node_of`, (n_groups,).

    `collocating` (n_groups,) is True where a planner moves a group to join those it talks to. The plan is proven
    optimal when it meets its bound: that on the batch where there is one, else that on the load distance.
    """
    before = measures.effect(model, model.node_of)
    after = before if np.array_equal(node_of, model.node_of) else measures.effect(model, node_of)
    floor = measures.skew_floor(model)
    placed = np.array(node_of, dtype=np.int64)
    placed.setflags(write=False)
    return Plan(
        planner=planner,
        node_of=placed,
        moves=ordered_moves(model, placed, collocating),
        before=before,
        after=after,
        lower_bound=lower_bound,
        batch_bound_s=batch_bound_s,
        proven_optimal=_proven(after, lower_bound, batch_bound_s),
        notes=notes if floor is None else (*notes, floor.sentence),
        elapsed_s=elapsed_s,
    )


def _proven(after: Effect, lower_bound: float | None, batch_bound_s: float | None) -> bool:
    if batch_bound_s is not None and after.batch_s is not None:
        return after.batch_s <= batch_bound_s * (1 + BATCH_SLACK_RATIO)
    return lower_bound is not None and after.load_distance <= lower_bound + PROOF_SLACK


def bounded_plan(
    model: LoadModel, node_of: IntArray, params: PlanParams, *, planner: str, start_s: float, clock: Clock
) -> Plan:
    """The plan of a planner that proves nothing itself, begun at `start_s`; what time is left goes into bounds."""

    def left_s() -> float:
        return start_s + params.deadline_s - clock()

    shortest_s = batch_bound_in_time(model, params, left_s)
    lower = bound.bound_in_time(model, params, left_s)
    return make_plan(
        model, node_of, planner=planner, elapsed_s=clock() - start_s, lower_bound=lower, batch_bound_s=shortest_s
    )


def batch_bound_in_time(model: LoadModel, params: PlanParams, left_s: Callable[[], float]) -> float | None:
    """A bound on the batch; None where batch time is not the objective. What no placement changes of a batch is one
    that takes no time.

    `left_s`: seconds until the deadline, now.
    """
    if model.batch is None or params.objective_of(model) is not Objective.BATCH_TIME:
        return None
    return rest_s(model.batch) if left_s() < model.n_groups * S_PER_GROUP else batch_bound(model, params)


def hold_plan(model: LoadModel, *, planner: str) -> Plan:
    """The plan that changes nothing."""
    return make_plan(model, model.node_of, planner=planner, elapsed_s=0.0)
