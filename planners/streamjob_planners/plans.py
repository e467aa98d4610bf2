"""From a new placement to a plan: moves in order, a reason for each, effects before and after."""

from __future__ import annotations

import heapq

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, Move, MoveReason, Plan

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


def hold_plan(model: LoadModel, *, planner: str, elapsed_s: float = 0.0, notes: tuple[str, ...] = ()) -> Plan:
    """The plan that changes nothing."""
    return make_plan(model, model.node_of, planner=planner, elapsed_s=elapsed_s, notes=notes)


def ordered_moves(model: LoadModel, node_of: IntArray, collocating: BoolArray | None = None) -> tuple[Move, ...]:
    """Moves in the order in which they help most, so that stopping early leaves the best part done.

    The gain of a move is how much it lowers the capacity-weighted sum of squared deviations from the mean, to which
    every unit of load on a marked node adds its own; one lazy pass over a heap, O(m log m).
    """
    state = _Walk(model)
    moving = np.flatnonzero(node_of != model.node_of)
    heap = [(-state.gain(int(k), int(node_of[k])), int(k)) for k in moving]
    heapq.heapify(heap)
    moves: list[Move] = []
    while heap:
        _, group = heapq.heappop(heap)
        gain = state.gain(group, int(node_of[group]))
        if heap and gain < -heap[0][0] - 1e-12:
            heapq.heappush(heap, (-gain, group))
            continue
        joins = collocating is not None and bool(collocating[group])
        moves.append(state.make(group, int(node_of[group]), joins))
    return tuple(moves)


class _Walk:
    """Loads while moves are made one after the other."""

    def __init__(self, model: LoadModel) -> None:
        self._model = model
        self._loads: FloatArray = measures.node_loads(model, model.node_of)
        self._mean = measures.mean_utilisation(model)

    def gain(self, group: int, target: int) -> float:
        """What the move helps now; its order of magnitude is load times percent points."""
        load = float(self._model.load[group])
        source = int(self._model.node_of[group])
        before = self._pain(source, 0.0) + self._pain(target, 0.0)
        return before - self._pain(source, -load) - self._pain(target, load)

    def make(self, group: int, target: int, joins: bool) -> Move:
        """The move with its reason at this point of the walk; the loads go on from there."""
        model, source = self._model, int(self._model.node_of[group])
        reason = MoveReason.COLLOCATE if joins else self._reason(source, target)
        self._loads[source] -= model.load[group]
        self._loads[target] += model.load[group]
        return Move(
            group=group,
            source=source,
            target=target,
            reason=reason,
            cost_s=float(model.migration_cost_s[group]),
            state_bytes=float(model.state_bytes[group]),
            load=float(model.load[group]),
        )

    def _pain(self, node: int, change: float) -> float:
        load, capacity = float(self._loads[node]) + change, float(self._model.capacity[node])
        off = load / capacity - self._mean
        if self._model.marked[node]:
            return capacity * max(0.0, off) ** 2 + load
        return capacity * off**2

    def _reason(self, source: int, target: int) -> MoveReason:
        if self._model.marked[source]:
            return MoveReason.DRAIN
        if self._loads[source] > self._mean * self._model.capacity[source]:
            return MoveReason.RELIEVE
        if self._loads[target] < self._mean * self._model.capacity[target]:
            return MoveReason.FILL
        return MoveReason.SWAP
