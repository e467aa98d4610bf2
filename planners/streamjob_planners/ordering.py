"""The moves of a plan: in the order in which they help most, with a reason for each."""

from __future__ import annotations

import numpy as np

from streamjob_planners import measures
from streamjob_planners.kernel.ordering import DRAINS, FILLS, RELIEVES, SWAPS, Walk, put_in_order
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, Move, MoveReason

_REASONS = {
    DRAINS: MoveReason.DRAIN,
    RELIEVES: MoveReason.RELIEVE,
    FILLS: MoveReason.FILL,
    SWAPS: MoveReason.SWAP,
}


def ordered_moves(model: LoadModel, node_of: IntArray, collocating: BoolArray | None = None) -> tuple[Move, ...]:
    """Moves in the order in which they help most, so that stopping early leaves the best part done.

    The gain of a move is how much it lowers the capacity-weighted sum of squared deviations from the mean, to which
    every unit of load on a marked node adds its own; one lazy pass over a heap, O(m log m).
    """
    moving = np.flatnonzero(node_of != model.node_of)
    if not moving.size:
        return ()
    walk = _walk(model, moving, node_of)
    put_in_order(walk, measures.mean_utilisation(model))
    groups = moving[walk.order]
    reasons = [_REASONS[reason] for reason in walk.reason.tolist()]
    if collocating is not None:
        joins = collocating[groups].tolist()
        reasons = [MoveReason.COLLOCATE if joined else reason for joined, reason in zip(joins, reasons, strict=True)]
    return tuple(
        Move(group=group, source=source, target=target, reason=reason, cost_s=cost, state_bytes=size, load=load)
        for group, source, target, reason, cost, size, load in zip(
            groups.tolist(),
            model.node_of[groups].tolist(),
            node_of[groups].tolist(),
            reasons,
            model.migration_cost_s[groups].tolist(),
            model.state_bytes[groups].tolist(),
            model.load[groups].tolist(),
            strict=True,
        )
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
