"""Counters that may start anew."""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import TypeVar

K = TypeVar("K", bound=Hashable)


def growth(before: Mapping[K, float], after: Mapping[K, float], key: K) -> float:
    """How much a counter grew; one that is lower than before has started anew at 0."""
    first, last = before.get(key, 0.0), after.get(key, 0.0)
    return last - first if last >= first else last
