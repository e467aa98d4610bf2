"""A first plan for a tight budget: which groups leave is chosen for all nodes at once, then where they go.

What leaves a node is what brings it into its band for the least price: of the groups that do not take it below, those
that take most of the excess for their price. Where others lack more than that, as empty ones do, so much more leaves
nodes within their bands, of all nodes what costs least for its load. Those that leave are given out heaviest first,
each to the node with the most room.
"""

from __future__ import annotations

from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.state import CAME, EDGE, Fixed, State, is_full
from streamjob_planners.kernel.transfer import send, sort_heaviest_first
from streamjob_planners.model import BoolArray, FloatArray, IntArray


class Cover(NamedTuple):
    """Room to work in, and what is wanted.

    Attributes:
        price: of each group, a part of the budget, above 0, (n_groups,).
        lacking: load that nodes lack to the lowest of their bands, (1,).
        cheapest: all groups by their price for a load, the least first; none where nobody lacks more than others give.
        widest: room of the receiver that has most, (1,).
        chosen: groups that leave, (n_groups,).
        leaves: whether a group is among them, (n_groups,); none at first.
        sums: their load, and their price, (2,); 0 at first.
        left: load of each node without them, (n_nodes,).
        heap: receivers, the one with the most room first.
    """

    price: FloatArray
    lacking: FloatArray
    cheapest: IntArray
    widest: FloatArray
    chosen: IntArray
    leaves: BoolArray
    sums: FloatArray
    left: FloatArray
    heap: IntArray


@inlined
def best_to_leave(fixed: Fixed, state: State, cover: Cover, node: int) -> int:
    """The group of a node that takes most of its excess for its price and leaves it in its band; -1 if none does.

    Of those that take all of it for the same price, the one that brings the node nearest to its band's middle.
    """
    excess = cover.left[node] - state.high[node]
    most = min(cover.left[node] - state.low[node], cover.widest[0])
    wanted = excess if fixed.marked[node] else cover.left[node] - state.middle[node]
    best, worth, least = -1, 0.0, 1e300
    for place in range(state.filled[node]):
        group = state.slots[node, place]
        load = fixed.load[group]
        if cover.leaves[group] or not fixed.movable[group] or load > most:
            continue
        one, apart = min(load, excess) / cover.price[group], abs(load - wanted)
        if one > worth or (one == worth and apart < least):
            best, worth, least = group, one, apart
    return int(best)


@compiled
def choose(fixed: Fixed, state: State, cover: Cover) -> int:
    """Fill `chosen` with what has to leave, and what others lack; how many, -1 if that is above the budget."""
    count = 0
    for node in range(cover.left.size):
        cover.left[node] = state.loads[node]
        while cover.left[node] > state.high[node]:
            group = best_to_leave(fixed, state, cover, node)
            if group < 0:
                break
            if not let_leave(fixed, cover, group, node, count):
                return -1
            count += 1
    for group in cover.cheapest:
        if cover.sums[0] >= cover.lacking[0]:
            break
        node = state.at[group]
        if may_leave(fixed, state, cover, group, node):
            if not let_leave(fixed, cover, group, node, count):
                return -1
            count += 1
    return count


@inlined
def may_leave(fixed: Fixed, state: State, cover: Cover, group: int, node: int) -> bool:
    """Whether a group can leave a node which stays in its band without it."""
    load = fixed.load[group]
    stays = cover.left[node] - load >= state.low[node]
    return bool(fixed.movable[group] and not cover.leaves[group] and load <= cover.widest[0] and stays)


@inlined
def let_leave(fixed: Fixed, cover: Cover, group: int, node: int, count: int) -> bool:
    """A group is the next of those that leave; whether the budget suffices."""
    cover.chosen[count] = group
    cover.leaves[group] = True
    cover.left[node] -= fixed.load[group]
    cover.sums[0] += fixed.load[group]
    cover.sums[1] += cover.price[group]
    return bool(cover.sums[1] <= 1.0)


@inlined
def roomier(state: State, cover: Cover, one: int, other: int) -> bool:
    """Whether a node has more room below its band's middle than another, or as much and the lower number."""
    room, others = state.middle[one] - cover.left[one], state.middle[other] - cover.left[other]
    return bool(room > others or (room == others and one < other))


@inlined
def sink(state: State, cover: Cover, place: int, size: int) -> None:
    """Restore the heap, the first `size` nodes, below a place."""
    while True:
        child = 2 * place + 1
        if child >= size:
            return
        if child + 1 < size and roomier(state, cover, cover.heap[child + 1], cover.heap[child]):
            child += 1
        if not roomier(state, cover, cover.heap[child], cover.heap[place]):
            return
        cover.heap[child], cover.heap[place] = cover.heap[place], cover.heap[child]
        place = child


@inlined
def has_place(fixed: Fixed, state: State, group: int, node: int) -> bool:
    """Whether a node that is not its own has a slot and the resources for one more group, and may take one."""
    at = fixed.node[node]
    for row in range(fixed.uses.shape[0]):
        if state.held[row, at] + fixed.uses[row, group] > fixed.limits[row, at]:
            return False
    return bool(not is_full(state, node) and state.crossed[CAME, node] < state.most_crossed[CAME, node])


@inlined
def give(fixed: Fixed, state: State, cover: Cover, group: int, size: int) -> int:
    """Send a group where there is room among the first `size` nodes of the heap; how many of these are asked further.

    One that has room for its load and no place is asked no more: it would keep those with less room from being asked.
    """
    home, load = state.at[group], fixed.load[group]
    while size > 0:
        target = cover.heap[0]
        over = cover.left[target] + load - state.high[target]
        if target == home or over >= max(EDGE, cover.left[home] + load - state.high[home]):
            break
        if has_place(fixed, state, group, target):
            if not send(fixed, state, group, target):
                break
            cover.left[target] += load
            sink(state, cover, 0, size)
            return size
        size -= 1
        cover.heap[0] = cover.heap[size]
        sink(state, cover, 0, size)
    cover.left[home] += load
    return size


@compiled
def give_out(fixed: Fixed, state: State, cover: Cover, count: int) -> None:
    """Send the first `count` of those chosen where there is room."""
    sort_heaviest_first(fixed.load, cover.chosen, count)
    size = cover.heap.size
    for place in range(size // 2 - 1, -1, -1):
        sink(state, cover, place, size)
    for place in range(count):
        size = give(fixed, state, cover, cover.chosen[place], size)
