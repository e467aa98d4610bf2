"""From a new placement to a plan: moves in order, effects before and after, what is proven."""

from __future__ import annotations

import numpy as np

from streamjob_planners import bound, measures
from streamjob_planners.model import BoolArray, Clock, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.ordering import ordered_moves

PROOF_SLACK = 1e-4
"""Percent points by which a plan may miss the lower bound and still count as proven optimal."""


def make_plan(
    model: LoadModel,
    node_of: IntArray,
    *,
    planner: str,
    elapsed_s: float,
    lower_bound: float | None = None,
    notes: tuple[str, ...] = (),
    collocating: BoolArray | None = None,
) -> Plan:
    """The plan that leads from today's placement to `node_of`, (n_groups,).

    `collocating` (n_groups,) is True where a planner moves a group to join those it talks to. The plan is proven
    optimal when its load distance meets the lower bound.
    """
    after = measures.effect(model, node_of)
    floor = measures.skew_floor(model)
    placed = np.array(node_of, dtype=np.int64)
    placed.setflags(write=False)
    return Plan(
        planner=planner,
        node_of=placed,
        moves=ordered_moves(model, placed, collocating),
        before=measures.effect(model, model.node_of),
        after=after,
        lower_bound=lower_bound,
        proven_optimal=lower_bound is not None and after.load_distance <= lower_bound + PROOF_SLACK,
        notes=notes if floor is None else (*notes, floor.sentence),
        elapsed_s=elapsed_s,
    )


def bounded_plan(
    model: LoadModel, node_of: IntArray, params: PlanParams, *, planner: str, start_s: float, clock: Clock
) -> Plan:
    """The plan of a planner that proves nothing itself, begun at `start_s`; what time is left goes into a bound."""
    lower = bound.bound_in_time(model, params, lambda: start_s + params.deadline_s - clock())
    return make_plan(model, node_of, planner=planner, elapsed_s=clock() - start_s, lower_bound=lower)


def hold_plan(model: LoadModel, *, planner: str) -> Plan:
    """The plan that changes nothing."""
    return make_plan(model, model.node_of, planner=planner, elapsed_s=0.0)
