"""The moves of a plan: in the order in which they help most, with a reason for each."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from streamjob_planners import measures
from streamjob_planners.columns import REASONS, Moves
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, MoveReason
from streamjob_planners.room_first import room_first

if TYPE_CHECKING:
    from streamjob_planners.kernel.ordering import Walk


def ordered_moves(model: LoadModel, node_of: IntArray, collocating: BoolArray | None = None) -> Moves:
    """Moves in the order in which they help most, so that stopping early leaves the best part done.

    The gain of a move is how much it lowers the capacity-weighted sum of squared deviations from the mean, to which
    every unit of load on a marked node adds its own; one lazy pass over a heap, O(m log m). Where a node has no room
    for what comes before something has left it, that goes first (`room_first`).
    """
    moving = np.flatnonzero(node_of != model.node_of)
    groups, reason = (moving, moving) if not moving.size else _in_order(model, moving, node_of)
    if model.resources and moving.size:
        places = room_first(model, groups, node_of)
        groups, reason = groups[places], reason[places]
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


def _in_order(model: LoadModel, moving: IntArray, node_of: IntArray) -> tuple[IntArray, IntArray]:
    """The moving key groups in order, and the reason of each."""
    # Imported here: most cycles move nothing, and a process that plans elsewhere then needs no compiled loops (60 MiB
    # of numba where they are not compiled ahead of time).
    from streamjob_planners.kernel.ordering import put_in_order

    walk = _walk(model, moving, node_of)
    put_in_order(walk, measures.mean_utilisation(model))
    return moving[walk.order], walk.reason


def _walk(model: LoadModel, moving: IntArray, node_of: IntArray) -> Walk:
    from streamjob_planners.kernel.ordering import Walk

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
