"""Levelling nodes in pairs: the fullest gives to the emptiest, heavy groups first, and one exact exchange at the end.

Every transfer settles at least one of its two nodes, so n nodes are level after at most n of them. Two nodes with a
hundred groups each have ten thousand exchanges to choose from: the last one can be almost exact.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.state import Fixed, State, is_off
from streamjob_planners.kernel.step import attempt
from streamjob_planners.model import FloatArray, IntArray

GIVER, TAKER = 0, 1
"""Where `Scratch.cursor` holds the places in the lists of givers and takers."""
ANY_COST = 1e300


class Scratch(NamedTuple):
    """Room to work in. `giving`, `coming`: groups of the two nodes, heaviest first."""

    giving: IntArray
    coming: IntArray
    cursor: IntArray


def new_scratch(state: State) -> Scratch:
    """Room for the fullest node there can be."""
    width = state.slots.shape[1]
    return Scratch(
        giving=np.zeros(width, dtype=np.int64),
        coming=np.zeros(width, dtype=np.int64),
        cursor=np.zeros(2, dtype=np.int64),
    )


@inlined
def sort_heaviest_first(load: FloatArray, groups: IntArray, count: int) -> None:
    """Shell sort of the first `count` groups, without any memory."""
    gap = 1
    while gap < count // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for at in range(gap, count):
            group = groups[at]
            place = at
            while place >= gap and load[groups[place - gap]] < load[group]:
                groups[place] = groups[place - gap]
                place -= gap
            groups[place] = group
        gap //= 3


@compiled
def may_enter(fixed: Fixed, state: State, group: int, node: int) -> bool:
    """Whether a movable group may be on that node, budget left out."""
    return bool(node == fixed.home[group] or not fixed.marked[node])


@inlined
def list_movable(fixed: Fixed, state: State, ends: tuple[int, int], groups: IntArray) -> int:
    """Fill `groups` with those of node ends[0] that may go to node ends[1], heaviest first; their number."""
    count = 0
    for place in range(state.filled[ends[0]]):
        group = state.slots[ends[0], place]
        if fixed.movable[group] and may_enter(fixed, state, group, ends[1]):
            groups[count] = group
            count += 1
    sort_heaviest_first(fixed.load, groups, count)
    return count


@inlined
def surplus(fixed: Fixed, state: State, node: int) -> float:
    """Load above the middle of the band; on a marked node all of it."""
    if fixed.marked[node]:
        return float(state.loads[node])
    return float(state.loads[node] - state.middle[node])


@inlined
def room(state: State, source: int, target: int) -> float:
    """The most load that may go from one node to another without either leaving its band for it."""
    return float(min(state.loads[source] - state.low[source], state.high[target] - state.loads[target]))


@compiled
def send(fixed: Fixed, state: State, group: int, target: int) -> bool:
    """One group to a node, if budget and resources allow it."""
    state.groups[0], state.targets[0] = group, target
    return bool(attempt(fixed, state, 1, (ANY_COST, 0.0, 0.0, 0.0)))


@inlined
def send_heavy(fixed: Fixed, state: State, giving: IntArray, count: int, ends: tuple[int, int]) -> int:
    """Send the heaviest groups that fit while either node is off its band; how many of `giving` are left."""
    source, target = ends
    place = 0
    while place < count and (is_off(state, source) or is_off(state, target)):
        group = giving[place]
        fits = fixed.load[group] <= room(state, source, target)
        if fits and fixed.load[group] > 0.0 and send(fixed, state, group, target):
            for later in range(place + 1, count):
                giving[later - 1] = giving[later]
            count -= 1
        else:
            place += 1
    return count


@inlined
def exchange(fixed: Fixed, state: State, scratch: Scratch, counts: tuple[int, int], ends: tuple[int, int]) -> None:
    """Swap the pair of groups whose difference is nearest to what is still to be transferred; or send one group."""
    source, target = ends
    wanted = min(surplus(fixed, state, source), -surplus(fixed, state, target))
    least, best, back, other = wanted, -1, -1, 0
    for place in range(counts[0]):
        group = scratch.giving[place]
        if abs(fixed.load[group] - wanted) < least:
            least, best, back = abs(fixed.load[group] - wanted), group, -1
        while other < counts[1] and fixed.load[scratch.coming[other]] > fixed.load[group] - wanted:
            other += 1
        for beside in range(max(0, other - 1), min(counts[1], other + 1)):
            left = abs(fixed.load[group] - fixed.load[scratch.coming[beside]] - wanted)
            if left < least:
                least, best, back = left, group, scratch.coming[beside]
    if best >= 0:
        state.groups[0], state.targets[0] = best, target
        state.groups[1], state.targets[1] = back, source
        attempt(fixed, state, 1 if back < 0 else 2, (ANY_COST, 0.0, 0.0, 0.0))


@inlined
def transfer(fixed: Fixed, state: State, scratch: Scratch, source: int, target: int) -> None:
    """Bring two nodes into their bands as far as they can do that for each other."""
    ends = (source, target)
    count = list_movable(fixed, state, ends, scratch.giving)
    count = send_heavy(fixed, state, scratch.giving, count, ends)
    if is_off(state, source) or is_off(state, target):
        coming = 0
        if not fixed.marked[source]:
            coming = list_movable(fixed, state, (target, source), scratch.coming)
        exchange(fixed, state, scratch, (count, coming), ends)


@compiled
def level(fixed: Fixed, state: State, scratch: Scratch, order: tuple[IntArray, IntArray], transfers: int) -> bool:
    """Up to so many transfers between givers and takers, fullest and emptiest first; True when all are done.

    `order`: givers and takers. `scratch.cursor` remembers where to go on.
    """
    givers, takers = order
    cursor = scratch.cursor
    for _ in range(transfers):
        if cursor[GIVER] >= givers.size or cursor[TAKER] >= takers.size:
            return True
        source, target = givers[cursor[GIVER]], takers[cursor[TAKER]]
        if is_off(state, source) or is_off(state, target):
            transfer(fixed, state, scratch, source, target)
        if surplus(fixed, state, source) <= -surplus(fixed, state, target):
            cursor[GIVER] += 1
        else:
            cursor[TAKER] += 1
    return False
