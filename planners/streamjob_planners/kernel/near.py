"""Choosing a group by its load: searched for among those at home, or sampled."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.state import Fixed, State, chance

SAMPLES = 4
"""Candidates looked at for each choice; the most promising one is tried."""
SEARCHED = 0.5
"""Part of the choices of a group by its load that are searched for and not sampled."""
BESIDE = 2
"""Groups on either side of that load from which one is drawn."""


@inlined
def below(state: State, size: int) -> int:
    """A random index from 0 to size - 1."""
    return int(chance(state) * size)


@inlined
def own_near(fixed: Fixed, state: State, node: int, load: float) -> int:
    """One of the groups at home on a node whose loads are next to that; -1 if that one is away."""
    low, high = fixed.first[node], fixed.first[node + 1]
    if low == high:
        return -1
    first, last = low, high - 1
    while low < high:
        middle = (low + high) // 2
        if fixed.own_load[middle] < load:
            low = middle + 1
        else:
            high = middle
    group = fixed.own[min(last, max(first, low - BESIDE + below(state, 2 * BESIDE)))]
    return int(group) if state.at[group] == node else -1


@inlined
def group_near(fixed: Fixed, state: State, node: int, load: float) -> int:
    """A group of a node whose load is near: of its own by search, or the nearest of a few; -1 on an empty node.

    Where few groups are heavy, chance alone hardly ever meets them.
    """
    if chance(state) < SEARCHED:
        group = own_near(fixed, state, node, load)
        if group >= 0:
            return group
    best, least = -1, 1e300
    for _ in range(SAMPLES):
        if state.filled[node] > 0:
            group = state.slots[node, below(state, state.filled[node])]
            apart = abs(fixed.load[group] - load)
            if apart < least:
                best, least = group, apart
    return int(best)
