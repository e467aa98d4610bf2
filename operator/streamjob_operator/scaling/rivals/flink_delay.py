"""The Flink autoscaler's scale-down interval: see :mod:`streamjob_operator.scaling.rivals.flink` for the source."""

from __future__ import annotations

import dataclasses

INTERVAL_S = 3600.0

Recommended = tuple[float, int, bool]
"""A moment, a parallelism, and whether utilisation was outside its bounds then."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Delayed:
    """A scale-down that waits since `first_s`; recommendations fall, so the first one is the largest."""

    first_s: float | None = None
    recommended: tuple[Recommended, ...] = ()


def delayed(before: Delayed, current: int, wished: int, outside: bool, now_s: float) -> tuple[int, bool, Delayed]:
    """The parallelism, whether utilisation was outside its bounds when it was wished for, and what waits on."""
    first_s = now_s if before.first_s is None else before.first_s
    larger = tuple(one for one in before.recommended if one[1] > wished)
    waiting = Delayed(first_s=first_s, recommended=(*larger, (now_s, wished, outside)))
    if now_s - INTERVAL_S < first_s:
        return current, False, waiting
    recent = tuple(one for one in waiting.recommended if one[0] >= now_s - INTERVAL_S)
    _, executors, was_outside = recent[0]
    return executors, was_outside, dataclasses.replace(waiting, recommended=recent)
