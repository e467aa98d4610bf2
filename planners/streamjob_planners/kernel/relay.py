"""Relays: what a node is off its band goes from node to node, each brought into its band, until one can take it.

Random steps hardly get closer once each of them leaves a node off. Here one node at a time may be off, by however much:
the next exchange brings it into its band and leaves that to another node. With every hop there is a chance that the
other one can take it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.regroup import Regroup, brought_in, new_regroup, saved
from streamjob_planners.kernel.state import CAME, LEFT, N_AWAY, N_FOCUS, N_OFF, NOBODY, Fixed, State, chance
from streamjob_planners.kernel.step import make, relocate
from streamjob_planners.kernel.transfer import ANY_COST
from streamjob_planners.model import FloatArray, IntArray

MOST_HOPS, MOST_KICKED = 12, 40
"""Hops of a walk at most, and of one that begins with a group that goes home: it has three nodes to bring in."""
LOOKED_AT = 16
"""Travelling groups, and groups of other nodes, that are looked at for each hop beside those of the node."""
SAVINGS = 4
"""Tries to save a move where one is to be saved; each takes as long as a hop."""
FEW_OFF = 4.0
"""Nodes off their bands above which walks that begin with a group that goes home, and drifts, are as many times fewer:
while many are off plain walks bring in most of them, and such a walk takes up to forty hops for one."""
NONE, STUCK = -1, -2
"""No group and no node; no exchange brings the node into its band."""


class Relay(NamedTuple):
    """A walk so far, and the exchange that its next hop makes.

    Attributes:
        moved: groups that it moved, in order, (2 * MOST_KICKED + 2,): two for each hop, and one that went home first.
        came: where each came from.
        made: how many, (1,).
        groups: of the next hop, (2,); NONE where it moves one only.
        targets: where they go, (2,).
        other: the node that it leaves the rest to, (1,).
        least: what that costs, (1,).
        regroup: room for sharing out anew what came to three nodes.
    """

    moved: IntArray
    came: IntArray
    made: IntArray
    groups: IntArray
    targets: IntArray
    other: IntArray
    least: FloatArray
    regroup: Regroup


def new_relay() -> Relay:
    """Room to work in."""
    return Relay(
        moved=np.zeros(2 * MOST_KICKED + 2, dtype=np.int64),
        came=np.zeros(2 * MOST_KICKED + 2, dtype=np.int64),
        made=np.zeros(1, dtype=np.int64),
        groups=np.zeros(2, dtype=np.int64),
        targets=np.zeros(2, dtype=np.int64),
        other=np.zeros(1, dtype=np.int64),
        least=np.zeros(1),
        regroup=new_regroup(),
    )


@inlined
def excess_of(state: State, node: int, load: float) -> float:
    """By how much a node with so much load would be off its band, 0 or more."""
    return float(max(0.0, load - state.high[node], state.low[node] - load))


@inlined
def affordable(fixed: Fixed, state: State, first: tuple[int, int], second: tuple[int, int]) -> bool:
    """Whether seconds and bytes allow an exchange: a group and its target, twice; the second NONE where it is one.

    Whether moves do is known before exchanges are looked for.
    """
    for column in (0, 2):
        if fixed.allowances[column] == np.inf:
            continue
        spent = state.spent[column]
        for group, target in (first, second):
            if group != NONE:
                home = fixed.home[group]
                spent += fixed.prices[group, column] * (int(target != home) - int(state.at[group] != home))
        if spent > fixed.allowances[column]:
            return False
    return True


@inlined
def offer(
    fixed: Fixed,
    state: State,
    relay: Relay,
    first: tuple[int, int],
    second: tuple[int, int],
    end: tuple[int, float],
) -> None:
    """Keep an exchange for the next hop, if by chance what it leaves to its other node is less than that of others."""
    off = excess_of(state, end[0], state.loads[end[0]] + end[1])
    cost = off * chance(state)
    if cost >= relay.least[0] or not affordable(fixed, state, first, second):
        return
    for place in range(relay.made[0]):
        if relay.moved[place] == first[0] or relay.moved[place] == second[0]:
            return
    relay.groups[0], relay.targets[0] = first
    relay.groups[1], relay.targets[1] = second
    relay.other[0], relay.least[0] = end[0], cost


@inlined
def first_from(fixed: Fixed, node: int, load: float) -> int:
    """Place in `own` of a node's first group that is not lighter."""
    low, high = fixed.first[node], fixed.first[node + 1]
    while low < high:
        middle = (low + high) // 2
        if fixed.own_load[middle] < load:
            low = middle + 1
        else:
            high = middle
    return int(low)


@inlined
def replace_arrived(fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float]) -> None:
    """Another group of its home in place of one that came; or that one goes home, or elsewhere."""
    group = state.newest[CAME, node]
    while group != NOBODY:
        home, load = fixed.home[group], fixed.load[group]
        at = first_from(fixed, home, load + window[0])
        while at < fixed.first[home + 1]:
            other, change = fixed.own[at], fixed.own_load[at] - load
            if change > window[1]:
                break
            if state.at[other] == home:
                offer(fixed, state, relay, (group, home), (other, node), (home, -change))
            at += 1
        if -load >= window[0] and -load <= window[1]:
            offer(fixed, state, relay, (group, home), (NONE, 0), (home, load))
            target = fixed.receivers[below(state, fixed.receivers.size)]
            if target != node:
                offer(fixed, state, relay, (group, target), (NONE, 0), (target, load))
        group = state.older[CAME, group]


@inlined
def replace_sent(fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float]) -> None:
    """Another group of the node in place of one that it sent; or that one comes home."""
    group = state.newest[LEFT, node]
    while group != NOBODY:
        target, load = state.at[group], fixed.load[group]
        at = first_from(fixed, node, load - window[1])
        while at < fixed.first[node + 1]:
            other, change = fixed.own[at], load - fixed.own_load[at]
            if change < window[0]:
                break
            if state.at[other] == node:
                offer(fixed, state, relay, (group, node), (other, target), (target, -change))
            at += 1
        if load >= window[0] and load <= window[1]:
            offer(fixed, state, relay, (group, node), (NONE, 0), (target, -load))
        group = state.older[LEFT, group]


@inlined
def trade_arrived(
    fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float], traveller: int
) -> None:
    """A travelling group comes here, for one that came or for none."""
    there, load = state.at[traveller], fixed.load[traveller]
    if load >= window[0] and load <= window[1]:
        offer(fixed, state, relay, (traveller, node), (NONE, 0), (there, -load))
    group = state.newest[CAME, node]
    while group != NOBODY:
        change = load - fixed.load[group]
        if change >= window[0] and change <= window[1]:
            offer(fixed, state, relay, (group, there), (traveller, node), (there, -change))
        group = state.older[CAME, group]


@inlined
def give_own_for(
    fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float], traveller: int
) -> None:
    """A travelling group comes here, and one of the node's own goes where it was; that takes a move."""
    there, load = state.at[traveller], fixed.load[traveller]
    at = first_from(fixed, node, load - window[1])
    while at < fixed.first[node + 1]:
        group, change = fixed.own[at], load - fixed.own_load[at]
        if change < window[0]:
            break
        if state.at[group] == node:
            offer(fixed, state, relay, (group, there), (traveller, node), (there, -change))
        at += 1


@inlined
def meet_travellers(
    fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float], spare: bool
) -> None:
    """Exchanges with some of those that travel; `spare`: whether a move is left."""
    size = state.counters[N_AWAY]
    start = below(state, size)
    for number in range(min(size, LOOKED_AT)):
        traveller = state.away[(start + number) % size]
        if state.at[traveller] != node:
            trade_arrived(fixed, state, relay, node, window, traveller)
            if spare and fixed.home[traveller] != node:
                give_own_for(fixed, state, relay, node, window, traveller)


@inlined
def send_own(fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float]) -> None:
    """One of the node's own goes elsewhere."""
    at = first_from(fixed, node, -window[1])
    while at < fixed.first[node + 1]:
        group, load = fixed.own[at], fixed.own_load[at]
        if load > -window[0]:
            break
        target = fixed.receivers[below(state, fixed.receivers.size)]
        if state.at[group] == node and target != node:
            offer(fixed, state, relay, (group, target), (NONE, 0), (target, load))
        at += 1


@inlined
def fetch_own(fixed: Fixed, state: State, relay: Relay, node: int, window: tuple[float, float]) -> None:
    """One that is at home elsewhere comes here."""
    for _ in range(LOOKED_AT):
        other = below(state, fixed.capacity.size)
        at = first_from(fixed, other, window[0])
        if other != node and at < fixed.first[other + 1]:
            group, load = fixed.own[at], fixed.own_load[at]
            if load <= window[1] and state.at[group] == other:
                offer(fixed, state, relay, (group, node), (NONE, 0), (other, -load))


@inlined
def hop(fixed: Fixed, state: State, relay: Relay, node: int) -> int:
    """Bring a node into its band; the node that this leaves off, NONE, or STUCK."""
    window = (state.low[node] - state.loads[node], state.high[node] - state.loads[node])
    relay.least[0] = ANY_COST
    spare = state.spent[1] + 1.0 <= fixed.allowances[1]
    replace_arrived(fixed, state, relay, node, window)
    replace_sent(fixed, state, relay, node, window)
    meet_travellers(fixed, state, relay, node, window, spare)
    if window[1] < 0.0 and spare:
        send_own(fixed, state, relay, node, window)
    if window[0] > 0.0 and spare:
        fetch_own(fixed, state, relay, node, window)
    if relay.least[0] == ANY_COST:
        return STUCK
    pieces = 1 if relay.groups[1] == NONE else 2
    for piece in range(pieces):
        group = relay.groups[piece]
        state.groups[piece], state.targets[piece] = group, relay.targets[piece]
        relay.moved[relay.made[0] + piece], relay.came[relay.made[0] + piece] = group, state.at[group]
    if not make(fixed, state, pieces):
        return STUCK
    relay.made[0] += pieces
    other = relay.other[0]
    return int(other) if state.off[other] else NONE


@inlined
def undo(fixed: Fixed, state: State, relay: Relay) -> None:
    """All groups of a walk go back."""
    for place in range(relay.made[0] - 1, -1, -1):
        relocate(fixed, state, relay.moved[place], relay.came[place])
    relay.made[0] = 0


@inlined
def walk(fixed: Fixed, state: State, relay: Relay, node: int, most: float) -> int:
    """Pass on what a node is off, until no node is off for it, or one by `most` at most; hops that it took.

    One that no exchange brings in is regrouped, which ends the walk. Where nothing of all this comes about all groups
    go back.
    """
    relay.made[0] = 0
    for number in range(MOST_HOPS):
        here = node
        node = hop(fixed, state, relay, here)
        if node == STUCK and brought_in(fixed, state, relay.regroup, here):
            return number + 2
        if node == NONE or (node >= 0 and excess_of(state, node, state.loads[node]) <= most):
            return number + 1
        if node == STUCK:
            undo(fixed, state, relay)
            return number + 2
    undo(fixed, state, relay)
    return MOST_HOPS


@inlined
def make_room(fixed: Fixed, state: State, relay: Relay) -> bool:
    """A travelling group goes home, so that a move is left for something else; whether its home has room for it."""
    group = state.away[below(state, state.counters[N_AWAY])]
    relay.moved[0], relay.came[0] = group, state.at[group]
    state.groups[0], state.targets[0] = group, fixed.home[group]
    goes = make(fixed, state, 1)
    relay.made[0] = int(goes)
    return goes


@inlined
def kick(fixed: Fixed, state: State, relay: Relay, node: int, most: float) -> int:
    """A walk that begins with room for one more move; hops that it took."""
    before, made = state.counters[N_OFF], 0
    if not make_room(fixed, state, relay):
        return 1
    while made < MOST_KICKED:
        here = node
        node = hop(fixed, state, relay, here)
        made += 1
        if node == STUCK:
            if state.counters[N_OFF] <= before and brought_in(fixed, state, relay.regroup, here):
                return made + 1
            break
        if state.counters[N_OFF] < before:
            return made
        if node == NONE:
            node = state.focus[below(state, state.counters[N_FOCUS])]
        if state.counters[N_OFF] == before and excess_of(state, node, state.loads[node]) <= most:
            return made
    undo(fixed, state, relay)
    return made


@inlined
def while_few_are_off(state: State, part: float) -> bool:
    """By chance, as often as that part says while few nodes are off, and only where groups travel."""
    return bool(chance(state) < part * min(1.0, FEW_OFF / state.counters[N_OFF]) and state.counters[N_AWAY] > 0)


@inlined
def save(fixed: Fixed, state: State, relay: Relay) -> int:
    """Try to save a move; tries that it took."""
    for number in range(SAVINGS):
        if saved(fixed, state, relay.regroup):
            return number + 1
    return SAVINGS


@inlined
def drift(fixed: Fixed, state: State, relay: Relay) -> None:
    """Let a node that sent a group send another one, or share what came, with no further node off."""
    group = state.away[below(state, state.counters[N_AWAY])]
    brought_in(fixed, state, relay.regroup, fixed.home[group])


@compiled
def relay_all(fixed: Fixed, state: State, relay: Relay, knobs: tuple[float, float, float, float], hops: int) -> int:
    """Walks until all nodes are within their bands, or so many hops are made; hops made.

    `knobs`: by how many times what its first node was off a walk may leave another one off; the part of the walks that
    begin with room for a move, as long as few nodes are off; the part of the rounds that try to save one, as long as
    none is left; the part that changes what is within its bands, as long as few nodes are off.
    """
    made, (slack, kicked, saves, drifts) = 0, knobs
    while made < hops and state.counters[N_OFF] > 0:
        if state.spent[1] + 1.0 > fixed.allowances[1] and chance(state) < saves:
            made += save(fixed, state, relay)
            continue
        if while_few_are_off(state, drifts):
            drift(fixed, state, relay)
            made += 1
            continue
        node = state.focus[below(state, state.counters[N_FOCUS])]
        most = slack * chance(state) * excess_of(state, node, state.loads[node])
        if while_few_are_off(state, kicked):
            made += kick(fixed, state, relay, node, most)
        else:
            made += walk(fixed, state, relay, node, most)
    return made
