"""Key groups and moves held as arrays: a million are there at once, and each becomes an object when looked at."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence
from typing import TypeVar, overload

import numpy as np

from streamjob_planners.model import FloatArray, GroupId, IntArray, Move, MoveReason

REASONS = (MoveReason.DRAIN, MoveReason.RELIEVE, MoveReason.FILL, MoveReason.SWAP, MoveReason.COLLOCATE)
"""What the numbers in `Moves.reason` mean."""


One = TypeVar("One")


class Rows(Sequence[One]):
    """Equal to any sequence of equal things, as arrays are not."""

    __slots__ = ()
    __hash__ = None  # type: ignore[assignment]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence) or len(self) != len(other):
            return False
        return all(mine == theirs for mine, theirs in zip(self, other, strict=True))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class GroupIds(Rows[GroupId]):
    """Key groups as two columns of numbers, (n_groups,) each."""

    operator: IntArray
    partition: IntArray

    def __len__(self) -> int:
        return int(self.operator.size)

    @overload
    def __getitem__(self, at: int) -> GroupId: ...
    @overload
    def __getitem__(self, at: slice) -> GroupIds: ...
    def __getitem__(self, at: int | slice) -> GroupId | GroupIds:
        if isinstance(at, slice):
            return GroupIds(operator=self.operator[at], partition=self.partition[at])
        return GroupId(operator=int(self.operator[at]), partition=int(self.partition[at]))

    def __iter__(self) -> Iterator[GroupId]:
        for operator, partition in zip(self.operator.tolist(), self.partition.tolist(), strict=True):
            yield GroupId(operator=operator, partition=partition)


def operators(group_ids: Sequence[GroupId]) -> IntArray:
    """The operator of each key group, (n_groups,)."""
    if isinstance(group_ids, GroupIds):
        return group_ids.operator
    return np.fromiter((one.operator for one in group_ids), dtype=np.int64, count=len(group_ids))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Moves(Rows[Move]):
    """Moves in order; the columns are those of a Move, `reason` the place in REASONS, (n_moves,) each."""

    group: IntArray
    source: IntArray
    target: IntArray
    reason: IntArray
    cost_s: FloatArray
    state_bytes: FloatArray
    load: FloatArray

    def __len__(self) -> int:
        return int(self.group.size)

    @overload
    def __getitem__(self, at: int) -> Move: ...
    @overload
    def __getitem__(self, at: slice) -> Moves: ...
    def __getitem__(self, at: int | slice) -> Move | Moves:
        if isinstance(at, slice):
            return Moves(**{field.name: getattr(self, field.name)[at] for field in dataclasses.fields(self)})
        one = range(len(self))[at]
        return next(iter(self[one : one + 1]))

    def __iter__(self) -> Iterator[Move]:
        rows = zip(*(getattr(self, field.name).tolist() for field in dataclasses.fields(self)), strict=True)
        for group, source, target, reason, cost_s, state_bytes, load in rows:
            yield Move(
                group=group,
                source=source,
                target=target,
                reason=REASONS[reason],
                cost_s=cost_s,
                state_bytes=state_bytes,
                load=load,
            )
