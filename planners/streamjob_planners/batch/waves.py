"""The moves of a plan spread over the boundaries between batches, so that no batch gets much longer by them.

A key group that has moved loads its state in its next task. What a boundary costs is the batch with that loading less
the same batch without it: groups that load side by side on different slots cost once, and a load that no node waits for
costs nothing.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

from streamjob_planners.batch.boundary import Boundary
from streamjob_planners.batch.room import Room
from streamjob_planners.model import LoadModel, Move

LOOK_AHEAD = 4
"""Later moves that are looked at for each one of a wave, whether they may join it at no cost."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Wave:
    """The moves of one boundary.

    Attributes:
        moves: in the order of the plan.
        extra_s: seconds by which loading their state makes the batch after them longer, 0 or more.
        batch_s: length of a batch once they are made, without loading; `Effect.batch_s` of that placement.
    """

    moves: tuple[Move, ...]
    extra_s: float
    batch_s: float


def waves(model: LoadModel, moves: Sequence[Move], allowance_s: float) -> tuple[Wave, ...]:
    """All moves, boundary by boundary, in the plan's order, from today's placement.

    A wave ends before the move that would add more than `allowance_s` to its batch; it has one move at least. A later
    move may join when the batch gets no longer and it takes no room from those before it. Raises ValueError for a
    model without `batch` and an allowance below 0.
    """
    if model.batch is None:
        raise ValueError("batch: None given, waves need what a batch takes")
    if not allowance_s >= 0:
        raise ValueError(f"allowance_s: {allowance_s} given, 0 or more is needed")
    boundary, room = Boundary(model, model.batch), Room(model)
    made, left = [], list(moves)
    while left:
        chosen = _one_wave(boundary, room, left, allowance_s)
        made.append(_closed(boundary, [left[place] for place in chosen]))
        taken = set(chosen)
        left = [move for place, move in enumerate(left) if place not in taken]
    return tuple(made)


def once_s(spread: Sequence[Wave]) -> float:
    """Seconds that all moves cost once."""
    return sum(wave.extra_s for wave in spread)


def _one_wave(boundary: Boundary, room: Room, moves: list[Move], allowance_s: float) -> list[int]:
    """The places of the moves that make the next wave; makes them."""
    boundary.make(moves[0].group, moves[0].target)
    chosen, reached = [0], 1
    while reached < len(moves) and boundary.make(moves[reached].group, moves[reached].target, allowance_s):
        chosen.append(reached)
        reached += 1
    last = min(len(moves), reached + 1 + LOOK_AHEAD * len(chosen))
    most_s = max(allowance_s, boundary.extra_s)
    room.begin(moves[:reached], moves[reached : reached + 1])
    for place, move in enumerate(moves[reached + 1 : last], reached + 1):
        joins = room.beside(move) and boundary.join(move.group, move.target, most_s)
        room.add(move, made=joins)
        chosen += [place] * joins
    return chosen


def _closed(boundary: Boundary, moves: list[Move]) -> Wave:
    extra_s = max(0.0, boundary.extra_s)
    boundary.settle()
    return Wave(moves=tuple(moves), extra_s=extra_s, batch_s=boundary.batch_s)
