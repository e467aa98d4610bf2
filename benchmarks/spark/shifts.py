"""What a shift of the skew costs: how many batches after it are slow, and how soon they are fast again."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

SLOW = 1.15
"""A batch is slow from this many times the bound and the fixed part on."""
REST = 3
"""Batches in a row that are not slow, from the first of which a job counts as balanced again."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Shift:
    """After one shift: batches that were slow until the next one, and batches before the job was balanced; None where
    it never was."""

    slow: int
    until_balanced: int | None


def after_shifts(durations_ms: Sequence[float], phase: int, reach_ms: Sequence[float]) -> list[Shift]:
    """Every shift that is followed by at least REST batches; `reach_ms` is the bound and the fixed part of each batch.

    The first phase is no shift: a job starts with it.
    """
    slow = [took > SLOW * reach for took, reach in zip(durations_ms, reach_ms, strict=True)]
    parts = [slow[at : at + phase] for at in range(phase, len(slow), phase)]
    return [Shift(slow=sum(one), until_balanced=first_rest(one)) for one in parts if len(one) >= REST]


def first_rest(slow: Sequence[bool]) -> int | None:
    """Batches before the first REST in a row that are not slow; None where there are none."""
    for at in range(len(slow) - REST + 1):
        if not any(slow[at : at + REST]):
            return at
    return None
