"""A search that found nothing worth having is not made again while it would be asked the same.

Most jobs at rest are some percent above what is proven, as moves cost more than they would gain. A search of such a job
takes tens of milliseconds to find that out, in each cycle. So what it found is kept, and is the plan as long as no
executor has more or less to do by what the gate asks of a gain, noise included. Today's figures judge it, as any plan.
"""

from __future__ import annotations

import dataclasses
import hashlib

import numpy as np

from streamjob_operator.steps.worth_time import LEAST_GAIN, least_gain_s
from streamjob_operator.values import Searched
from streamjob_planners import plans
from streamjob_planners.batch.doubt import Doubt, doubt
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import FloatArray, LoadModel, Plan, PlanParams
from streamjob_planners.verify import verify

MOST_CELLS, MOST_MOVES = 200, 50
"""Levels times executors, and moves, up to which a search is kept: they are part of what a job remembers."""
MOST_TIMES = 10
"""Cycles that one search answers: chance has a part in what it finds, and may find more the next time."""
SAME_PRICE = 0.1
"""Part by which the mean price of a move may differ."""
DIGITS = 6
"""Of a second: memory is text."""
EXACT = Doubt(mean_s=0.0, most_s=0.0)


def as_searched(model: LoadModel, today: Plan, params: PlanParams, known: Searched | None) -> Plan | None:
    """What the kept search found, by today's figures; None without one that was asked the same.

    `today`: the plan that moves nothing.
    """
    shape = model.batch
    if known is None or shape is None or known.times >= MOST_TIMES or known.asked != _asked(model, shape, params):
        return None
    ends_s = _ends_s(model, shape)
    if abs(_move_s(model) - known.move_s) > SAME_PRICE * known.move_s or not _fits(known, ends_s, model):
        return None
    apart_s = float(np.abs(ends_s - np.reshape(known.ends_s, ends_s.shape)).max(axis=1).sum())
    found = _with_moves(model, today, known)
    if apart_s > least_gain_s(today, EXACT) and apart_s > least_gain_s(today, doubt(shape, found.node_of)):
        return None
    # Moves that were no use, and no harm, may do harm by today's figures.
    return None if found.moves and verify(model, found, params) else found


def kept(model: LoadModel, plan: Plan, params: PlanParams) -> Searched | None:
    """What is kept of a search; None where it found something, was cut short, or is more than is remembered."""
    shape, before_s, after_s = model.batch, plan.before.expected_s, plan.after.expected_s
    if shape is None or before_s is None or after_s is None or before_s - after_s > LEAST_GAIN * before_s:
        return None
    today = plans.hold_plan(model, planner=plan.planner)
    too_large = shape.n_levels * model.n_nodes > MOST_CELLS or len(plan.moves) > MOST_MOVES
    if too_large or plan.notes != today.notes:  # a search that was cut short says so there
        return None
    return Searched(
        asked=_asked(model, shape, params),
        ends_s=tuple(_ends_s(model, shape).ravel().round(DIGITS).tolist()),
        move_s=_move_s(model),
        moves=tuple((move.group, move.target) for move in plan.moves),
    )


def once_more(known: Searched) -> Searched:
    """It has answered a cycle."""
    return dataclasses.replace(known, times=known.times + 1)


def _fits(known: Searched, ends_s: FloatArray, model: LoadModel) -> bool:
    """Whether all of it speaks of what there is: memory is text, which others may have changed."""
    there = all(0 <= group < model.n_groups and 0 <= node < model.n_nodes for group, node in known.moves)
    return there and len(known.ends_s) == ends_s.size


def _with_moves(model: LoadModel, today: Plan, known: Searched) -> Plan:
    if not known.moves:
        return today
    node_of = np.array(model.node_of, dtype=np.int64)
    for group, target in known.moves:
        node_of[group] = target
    return plans.make_plan(
        model, node_of, planner=today.planner, elapsed_s=0.0, batch_bound_s=today.batch_bound_s, notes=()
    )


def _asked(model: LoadModel, shape: BatchShape, params: PlanParams) -> str:
    """All that must be the same to the last bit, in short: the placement, what may move, and the policy."""
    whole = hashlib.sha256(repr((model.node_ids, params)).encode())
    for array in (model.node_of, model.pinned, shape.level, shape.slots):
        whole.update(np.ascontiguousarray(array).tobytes())
    return whole.hexdigest()[:16]


def _ends_s(model: LoadModel, shape: BatchShape) -> FloatArray:
    """When each executor ends its part of each level today, seconds, (n_levels, n_nodes)."""
    return ends(shape, model.node_of).node_s


def _move_s(model: LoadModel) -> float:
    return float(model.migration_cost_s.mean())
