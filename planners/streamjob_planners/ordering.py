"""The moves of a plan: in the order in which they help most, with a reason for each."""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.columns import REASONS, Moves
from streamjob_planners.kernel.ordering import Walk, put_in_order
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, MoveReason


def ordered_moves(model: LoadModel, node_of: IntArray, collocating: BoolArray | None = None) -> Moves:
    """Moves in the order in which they help most, so that stopping early leaves the best part done.

    The gain of a move is how much it lowers the capacity-weighted sum of squared deviations from the mean, to which
    every unit of load on a marked node adds its own; one lazy pass over a heap, O(m log m).
    """
    moving = np.flatnonzero(node_of != model.node_of)
    walk = _walk(model, moving, node_of)
    put_in_order(walk, measures.mean_utilisation(model))
    groups = moving[walk.order]
    reason = walk.reason
    if collocating is not None:
        reason = np.where(collocating[groups], REASONS.index(MoveReason.COLLOCATE), reason)
    return Moves(
        group=groups,
        source=model.node_of[groups],
        target=node_of[groups],
        reason=reason,
        cost_s=model.migration_cost_s[groups],
        state_bytes=model.state_bytes[groups],
        load=model.load[groups],
    )


def _walk(model: LoadModel, moving: IntArray, node_of: IntArray) -> Walk:
    def places() -> IntArray:
        return np.zeros(moving.size, dtype=np.int64)

    def own(values: FloatArray) -> FloatArray:
        return np.array(values, dtype=np.float64)  # a copy: compiled code takes only arrays that may be written to

    return Walk(
        load=own(model.load[moving]),
        source=np.array(model.node_of[moving], dtype=np.int64),
        target=np.array(node_of[moving], dtype=np.int64),
        capacity=own(model.capacity),
        marked=np.array(model.marked, dtype=np.bool_),
        loads=measures.node_loads(model, model.node_of),
        heap=places(),
        gain=np.zeros(moving.size),
        order=places(),
        reason=places(),
    )
