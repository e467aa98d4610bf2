"""Random steps at nodes off their bands: a group leaves home, or groups that left are exchanged for others."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.near import SAMPLES, below, group_near
from streamjob_planners.kernel.state import N_AWAY, N_FOCUS, Fixed, State, chance

FOCUSED = 0.95
"""Part of the steps that begin at a node off its band or to be drained."""
BY_LOAD = 0.5
"""Part of the groups sent that are chosen for their load; the others are any of the node's."""
ELSEWHERE = 0.8
"""Part of the redirected groups that go elsewhere and not home."""
SHIFTS, SWAPS, RETURNS = 0.22, 0.4, 0.52
"""Up to where a number from 0 to 1 stands for each kind of step that sends a group from home."""
REPLACES, REDIRECTS, TRADES, SPLITS = 0.7, 0.78, 0.86, 0.93
"""The same of those that change what has been sent; what is left stands for merging."""


@inlined
def focus_node(fixed: Fixed, state: State) -> int:
    """A node off its band or to be drained, now and then any node."""
    size = state.counters[N_FOCUS]
    if size > 0 and chance(state) < FOCUSED:
        return int(state.focus[below(state, size)])
    return below(state, fixed.capacity.size)


@inlined
def misfit(fixed: Fixed, state: State, node: int) -> float:
    """Load that a node must give away (or, below 0, take) to be in the middle of its band."""
    if fixed.marked[node]:
        return float(state.loads[node])
    return float(state.loads[node] - state.middle[node])


@inlined
def emptier_node(fixed: Fixed, state: State, node: int) -> int:
    """The one of a few random receivers beside a node that has the most room below its band's middle."""
    base = fixed.base[node]
    best, most = -1, -1e300
    for _ in range(SAMPLES):
        node = base + fixed.receivers[below(state, fixed.receivers.size)]
        room = -misfit(fixed, state, node)
        if room > most:
            best, most = node, room
    return int(best)


@inlined
def fuller_node(fixed: Fixed, state: State, node: int) -> int:
    """The one of a few random nodes beside a node that has the most to give; marked ones have all of it."""
    base = fixed.base[node]
    best, most = -1, -1e300
    for _ in range(SAMPLES):
        node = base + below(state, fixed.limits.shape[1])
        excess = misfit(fixed, state, node)
        if excess > most and state.filled[node] > 0:
            best, most = node, excess
    return int(best)


@inlined
def any_group(state: State, node: int) -> int:
    """A random group of a node; -1 on an empty one."""
    if state.filled[node] == 0:
        return -1
    return int(state.slots[node, below(state, state.filled[node])])


@inlined
def away_group(fixed: Fixed, state: State, node: int) -> int:
    """A random group that is not at home, if possible one that this node gave or received; -1 if there is none."""
    size = state.counters[N_AWAY]
    group = -1
    for _ in range(2 * SAMPLES):
        if size > 0:
            group = state.away[below(state, size)]
            if state.at[group] == node or fixed.home[group] == node:
                break
    return int(group)


@inlined
def away_beside(fixed: Fixed, state: State, node: int) -> int:
    """A random group that is not at home and on a node beside that one; -1 if none is met."""
    size = state.counters[N_AWAY]
    group = -1
    for _ in range(2 * SAMPLES):
        if size > 0:
            other = state.away[below(state, size)]
            if fixed.base[state.at[other]] == fixed.base[node]:
                group = other
    return int(group)


@inlined
def to_transfer(fixed: Fixed, state: State, source: int, target: int) -> float:
    """Load that must go from one node to another for both to be as far from the middle of their bands."""
    return (misfit(fixed, state, source) - misfit(fixed, state, target)) / 2


@inlined
def shift(fixed: Fixed, state: State, node: int) -> int:
    """Send one group away from a node that has too much, or to one that has too little; 0 if there is none."""
    excess = misfit(fixed, state, node)
    source, target = node, -1
    if excess > 0 or (fixed.marked[node] and state.filled[node] > 0):  # groups without load must leave, too
        target = emptier_node(fixed, state, node)
    elif not fixed.marked[node]:
        source, target = fuller_node(fixed, state, node), node
    if source < 0 or target < 0 or source == target:
        return 0
    wanted = min(abs(excess), abs(misfit(fixed, state, target if source == node else source)))
    group = group_near(fixed, state, source, wanted) if chance(state) < BY_LOAD else any_group(state, source)
    if group < 0:
        return 0
    state.groups[0], state.targets[0] = group, target
    return 1


@inlined
def swap(fixed: Fixed, state: State, node: int) -> int:
    """A shift, with a lighter group coming back for it."""
    if shift(fixed, state, node) == 0:
        return 0
    group, target = state.groups[0], state.targets[0]
    source = state.at[group]
    back = group_near(fixed, state, target, fixed.load[group] - to_transfer(fixed, state, source, target))
    if back < 0:
        return 0
    state.groups[1], state.targets[1] = back, source
    return 2


@inlined
def shift_and_return(fixed: Fixed, state: State, node: int) -> int:
    """A shift, paid for by another group going home."""
    if shift(fixed, state, node) == 0:
        return 0
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    state.groups[1], state.targets[1] = group, fixed.home[group]
    return 2


@inlined
def replace(fixed: Fixed, state: State, node: int) -> int:
    """A group goes home and another one of its home makes the same journey instead."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    here, home = state.at[group], fixed.home[group]
    wanted = fixed.load[group] + to_transfer(fixed, state, home, here)
    other = group_near(fixed, state, home, wanted)
    if other < 0:
        return 0
    state.groups[0], state.targets[0] = group, home
    state.groups[1], state.targets[1] = other, here
    return 2


@inlined
def split(fixed: Fixed, state: State, node: int) -> int:
    """A group goes home and two others of its home make the same journey instead."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    here, home = state.at[group], fixed.home[group]
    wanted = fixed.load[group] + to_transfer(fixed, state, home, here)
    one = any_group(state, home)
    if one < 0:
        return 0
    other = group_near(fixed, state, home, wanted - fixed.load[one])
    state.groups[0], state.targets[0] = group, home
    state.groups[1], state.targets[1] = one, here
    state.groups[2], state.targets[2] = other, here
    return 3


@inlined
def merge(fixed: Fixed, state: State, node: int) -> int:
    """Two groups go home and one makes the journey instead: a move is free for something else."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    here, home = state.at[group], fixed.home[group]
    second = -1
    for _ in range(2 * SAMPLES):
        candidate = any_group(state, here)
        if candidate != group and fixed.home[candidate] != here:
            second = candidate
            if fixed.home[candidate] == home:
                break
    if second < 0:
        return 0
    wanted = fixed.load[group] + fixed.load[second] + to_transfer(fixed, state, home, here)
    instead = group_near(fixed, state, home, wanted)
    if instead < 0:
        return 0
    state.groups[0], state.targets[0] = group, home
    state.groups[1], state.targets[1] = second, fixed.home[second]
    state.groups[2], state.targets[2] = instead, here
    return 3


@inlined
def redirect(fixed: Fixed, state: State, node: int) -> int:
    """A group that is not at home goes elsewhere instead, or home."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    target = fixed.home[group]
    if chance(state) < ELSEWHERE:
        here = state.at[group]
        elsewhere = here == node or fixed.base[here] != fixed.base[node]
        target = emptier_node(fixed, state, here) if elsewhere else node
    state.groups[0], state.targets[0] = group, target
    return 1


@inlined
def trade(fixed: Fixed, state: State, node: int) -> int:
    """Two groups that are not at home change places."""
    one = away_group(fixed, state, node)
    if one < 0:
        return 0
    other = away_beside(fixed, state, state.at[one])
    if other < 0:
        return 0
    state.groups[0], state.targets[0] = one, state.at[other]
    state.groups[1], state.targets[1] = other, state.at[one]
    return 2


@inlined
def send_more(fixed: Fixed, state: State, node: int, kind: float) -> int:
    """A step that sends a group from home, `kind` from 0 to RETURNS."""
    if kind < SHIFTS:
        return shift(fixed, state, node)
    if kind < SWAPS:
        return swap(fixed, state, node)
    return shift_and_return(fixed, state, node)


@inlined
def rearrange(fixed: Fixed, state: State, node: int, kind: float) -> int:
    """A step that changes what has been sent, `kind` from RETURNS to 1."""
    if kind < REPLACES:
        return replace(fixed, state, node)
    if kind < REDIRECTS:
        return redirect(fixed, state, node)
    if kind < TRADES:
        return trade(fixed, state, node)
    return split(fixed, state, node) if kind < SPLITS else merge(fixed, state, node)


@inlined
def propose(fixed: Fixed, state: State) -> int:
    """Fill in a random step; its number of pieces, 0 if none came about."""
    node = focus_node(fixed, state)
    kind = chance(state)
    return send_more(fixed, state, node, kind) if kind < RETURNS else rearrange(fixed, state, node, kind)
