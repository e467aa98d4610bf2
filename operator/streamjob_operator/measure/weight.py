"""What values that are kept hold in memory, bytes."""

from __future__ import annotations

import sys
from collections.abc import Mapping

from streamjob_planners.model import GroupId


def held_bytes(value: object) -> int:
    """Texts, numbers, arrays, key groups, and tuples and mappings of them; what occurs in several places counts in
    each."""
    size = sys.getsizeof(value)
    if isinstance(value, Mapping):
        return size + sum(held_bytes(key) + held_bytes(one) for key, one in value.items())
    if isinstance(value, tuple):
        return size + sum(map(held_bytes, value))
    if isinstance(value, GroupId):
        return size + sys.getsizeof(value.operator) + sys.getsizeof(value.partition)
    return size


def pairs_bytes(values: Mapping[tuple[GroupId, GroupId], float]) -> int:
    """A value for each of many pairs, whose key groups count once."""
    groups = {id(group): group for pair in values for group in pair}
    own = sum(sys.getsizeof(pair) + sys.getsizeof(value) for pair, value in values.items())
    return sys.getsizeof(values) + own + sum(map(held_bytes, groups.values()))
