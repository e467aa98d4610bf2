"""Regrouping: what travels to three nodes is shared out anew among these, so that all of them are within their bands.

An exchange changes two nodes by as much, and a node with one journey or none has few exchanges: at a narrow band often
none that brings it in. Three nodes to which eight groups came have thousands of ways to share these, and twenty times
as many where one of them may send another group than it does.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.state import CAME, EDGE, LEFT, N_AWAY, NOBODY, Fixed, State, chance
from streamjob_planners.kernel.step import relocate
from streamjob_planners.model import FloatArray, IntArray

NODES, MOST_CAME = 3, 10
"""Nodes that share, and groups that came to them at most: the ways to share grow by the former for each of these."""
MOST_PLACED = 300
"""Places given to groups until no way to share them is looked for any more."""
MOST_SENT = 24
"""Groups of a node that are tried in place of one that travels."""
RECALLED, SENT = 0.7, 0.5
"""Chance that a node with a group elsewhere sends another one instead, and that one to which groups came sends one
more otherwise, where a move is left."""
NO_GROUP = -1


class Regroup(NamedTuple):
    """Nodes that share, and what they share.

    Attributes:
        nodes: these, (NODES,).
        recalled: groups of the first one that go home before, (2,); NO_GROUP where there are fewer.
        groups: what is shared, heaviest first, (MOST_CAME + 1,).
        chosen: the place in `nodes` of the one that each group goes to, (MOST_CAME + 2,).
        left: load of each group and all that follow it, (MOST_CAME + 2,).
        room: what each node lacks to the highest of its band without them, and to the lowest, (2, NODES).
    """

    nodes: IntArray
    recalled: IntArray
    groups: IntArray
    chosen: IntArray
    left: FloatArray
    room: FloatArray


def new_regroup() -> Regroup:
    """Room to work in."""
    return Regroup(
        nodes=np.zeros(NODES, dtype=np.int64),
        recalled=np.full(2, NO_GROUP, dtype=np.int64),
        groups=np.zeros(MOST_CAME + 1, dtype=np.int64),
        chosen=np.zeros(MOST_CAME + 2, dtype=np.int64),
        left=np.zeros(MOST_CAME + 2),
        room=np.zeros((2, NODES)),
    )


@inlined
def enter(fixed: Fixed, regroup: Regroup, count: int, group: int) -> None:
    """Put one more group among the `count` that are shared."""
    at = count
    while at > 0 and fixed.load[regroup.groups[at - 1]] < fixed.load[group]:
        regroup.groups[at] = regroup.groups[at - 1]
        at -= 1
    regroup.groups[at] = group


@inlined
def strike(regroup: Regroup, count: int, group: int) -> None:
    """Take one of the `count` that are shared from them."""
    at = 0
    while regroup.groups[at] != group:
        at += 1
    for place in range(at, count - 1):
        regroup.groups[place] = regroup.groups[place + 1]


@inlined
def widen(regroup: Regroup, number: int, load: float) -> None:
    """A node has so much less of its own, or more where that is below 0."""
    regroup.room[0, number] += load
    regroup.room[1, number] += load


@inlined
def can_share(fixed: Fixed, state: State, regroup: Regroup) -> bool:
    """Whether the nodes are different ones, have not too many groups, and together neither too much nor too little."""
    nodes, count, most, least = regroup.nodes, 0, 0.0, 0.0
    if nodes[0] == nodes[1] or nodes[0] == nodes[2] or nodes[1] == nodes[2] or fixed.marked[nodes[0]]:
        return False
    for node in nodes:
        if state.filled[node] + MOST_CAME >= state.slots.shape[1]:
            return False
        count += state.crossed[CAME, node]
        most += state.high[node] - state.loads[node]
        least += state.low[node] - state.loads[node]
    return bool(count <= MOST_CAME and most >= 0.0 and least <= 0.0)


@inlined
def gather(fixed: Fixed, state: State, regroup: Regroup) -> int:
    """Take from the nodes what came to them, and send home who is recalled; how many are shared then."""
    count, recalled = 0, regroup.recalled
    for number in range(NODES):
        node = regroup.nodes[number]
        regroup.room[0, number] = state.high[node] - state.loads[node] + EDGE
        regroup.room[1, number] = state.low[node] - state.loads[node] - EDGE
        group = state.newest[CAME, node]
        while group != NOBODY:
            widen(regroup, number, fixed.load[group])
            if group != recalled[0] and group != recalled[1]:
                enter(fixed, regroup, count, group)
                count += 1
            group = state.older[CAME, group]
    for group in recalled:
        if group != NO_GROUP:
            widen(regroup, 0, -fixed.load[group])
    return count


@inlined
def lacking(regroup: Regroup) -> float:
    """Load that the nodes lack to the lowest of their bands."""
    return float(max(0.0, regroup.room[1, 0]) + max(0.0, regroup.room[1, 1]) + max(0.0, regroup.room[1, 2]))


@inlined
def overfull(regroup: Regroup) -> bool:
    """Whether a node has too much before anything is given to it."""
    return bool(regroup.room[0, 0] < 0.0 or regroup.room[0, 1] < 0.0 or regroup.room[0, 2] < 0.0)


@inlined
def next_place(fixed: Fixed, regroup: Regroup, at: int) -> bool:
    """Give a group to the next node that has room for it, or to none; whether there was one."""
    number, load = regroup.chosen[at], fixed.load[regroup.groups[at]]
    if number >= 0:
        widen(regroup, number, load)
    number += 1
    while number < NODES and regroup.room[0, number] < load:
        number += 1
    if number == NODES:
        return False
    regroup.chosen[at] = number
    widen(regroup, number, -load)
    return True


@inlined
def shared(fixed: Fixed, regroup: Regroup, count: int) -> bool:
    """Find a node for each of so many groups such that all nodes are within their bands; whether there is such a way.

    Without one, rooms are as they were.
    """
    regroup.left[count] = 0.0
    for place in range(count - 1, -1, -1):
        regroup.left[place] = regroup.left[place + 1] + fixed.load[regroup.groups[place]]
    at, placed, regroup.chosen[0] = 0, 0, -1
    if count == 0 or overfull(regroup) or lacking(regroup) > regroup.left[0]:
        return False
    while at >= 0:
        if at == count:
            return True
        if placed >= MOST_PLACED:
            take_back(fixed, regroup, at)
            return False
        placed += 1
        if not next_place(fixed, regroup, at):
            at -= 1
        elif lacking(regroup) <= regroup.left[at + 1]:
            at += 1
            regroup.chosen[at] = -1
    return False


@inlined
def take_back(fixed: Fixed, regroup: Regroup, last: int) -> None:
    """Take groups up to that place from their nodes again."""
    for place in range(last + 1):
        if regroup.chosen[place] >= 0:
            widen(regroup, regroup.chosen[place], fixed.load[regroup.groups[place]])


@inlined
def move(fixed: Fixed, state: State, group: int, node: int) -> None:
    """A group goes to a node, if it is not there."""
    if state.at[group] != node:
        relocate(fixed, state, group, node)


@inlined
def settled(fixed: Fixed, state: State, regroup: Regroup, count: int) -> bool:
    """Share so many groups, and let them go where they belong; whether that can be done."""
    if not shared(fixed, regroup, count):
        return False
    for group in regroup.recalled:
        if group != NO_GROUP:
            move(fixed, state, group, regroup.nodes[0])
    for place in range(count):
        move(fixed, state, regroup.groups[place], regroup.nodes[regroup.chosen[place]])
    return True


@inlined
def affords(fixed: Fixed, state: State, regroup: Regroup, group: int) -> bool:
    """Whether seconds and bytes allow that group in place of those that are recalled."""
    for column in (0, 2):
        if fixed.allowances[column] == np.inf:
            continue
        spent = state.spent[column] + fixed.prices[group, column]
        for other in regroup.recalled:
            if other != NO_GROUP:
                spent -= fixed.prices[other, column]
        if spent > fixed.allowances[column]:
            return False
    return True


@inlined
def settled_with_one_more(fixed: Fixed, state: State, regroup: Regroup, count: int) -> bool:
    """The same, and one of the first node's own groups is shared too, whichever that can be done with."""
    node = regroup.nodes[0]
    first, size = fixed.first[node], fixed.first[node + 1] - fixed.first[node]
    start = below(state, size)
    for number in range(min(size, MOST_SENT)):
        group = fixed.own[first + (start + number) % size]
        if state.at[group] == node and affords(fixed, state, regroup, group):
            widen(regroup, 0, fixed.load[group])
            enter(fixed, regroup, count, group)
            if settled(fixed, state, regroup, count + 1):
                return True
            strike(regroup, count + 1, group)
            widen(regroup, 0, -fixed.load[group])
    return False


@inlined
def elsewhere(fixed: Fixed, state: State, node: int, but: int) -> int:
    """One of a node's own groups that is elsewhere, by chance, other than `but`; NO_GROUP where there is none."""
    others = state.crossed[LEFT, node] - int(but != NO_GROUP)
    if others <= 0:
        return NO_GROUP
    group, skipped = state.newest[LEFT, node], below(state, others)
    while skipped > 0 or group == but:
        skipped -= int(group != but)
        group = state.older[LEFT, group]
    return int(group)


@inlined
def somewhere(state: State) -> int:
    """A node to which a group came, by chance."""
    return int(state.at[state.away[below(state, state.counters[N_AWAY])]])


@inlined
def brought_in(fixed: Fixed, state: State, regroup: Regroup, node: int) -> bool:
    """Bring a node that is off into its band, and two others are within theirs then; whether that was done.

    It sends another group in place of one that it sent, or one more where a move is left, or only shares what came.
    """
    if state.counters[N_AWAY] == 0 or fixed.uses.shape[0] > 0:
        return False
    nodes, recalled, sends = regroup.nodes, regroup.recalled, state.spent[1] + 1.0 <= fixed.allowances[1]
    nodes[0], nodes[1], nodes[2] = node, somewhere(state), somewhere(state)
    recalled[0] = elsewhere(fixed, state, node, NO_GROUP) if chance(state) < RECALLED else NO_GROUP
    recalled[1] = NO_GROUP
    if recalled[0] != NO_GROUP:
        nodes[1], sends = state.at[recalled[0]], True
    elif state.crossed[CAME, node] > 0 and chance(state) >= SENT:
        sends = False
    if not can_share(fixed, state, regroup):
        return False
    count = gather(fixed, state, regroup)
    if sends:
        return settled_with_one_more(fixed, state, regroup, count)
    return settled(fixed, state, regroup, count)


@inlined
def saved(fixed: Fixed, state: State, regroup: Regroup) -> bool:
    """Let a node send one group less, and it and two others are within their bands then; whether that was done.

    One group in place of two that it sent, or none in place of one.
    """
    if state.counters[N_AWAY] == 0 or fixed.uses.shape[0] > 0:
        return False
    nodes, recalled = regroup.nodes, regroup.recalled
    recalled[0] = state.away[below(state, state.counters[N_AWAY])]
    nodes[0], nodes[1], nodes[2] = fixed.home[recalled[0]], state.at[recalled[0]], somewhere(state)
    recalled[1] = elsewhere(fixed, state, nodes[0], recalled[0])
    if recalled[1] != NO_GROUP and state.at[recalled[1]] != nodes[1]:
        nodes[2] = state.at[recalled[1]]
    if not can_share(fixed, state, regroup):
        return False
    count = gather(fixed, state, regroup)
    if recalled[1] != NO_GROUP:
        return settled_with_one_more(fixed, state, regroup, count)
    return settled(fixed, state, regroup, count)
