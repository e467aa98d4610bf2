"""Threshold annealing: random steps at nodes off their bands, kept while they cost no more than a falling threshold."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import compiled
from streamjob_planners.kernel.state import N_AWAY, N_FOCUS, N_OFF, Fixed, State, chance, waiting_weight
from streamjob_planners.kernel.step import attempt

SAMPLES = 4
"""Candidates looked at for each choice; the most promising one is tried."""


@compiled
def below(state: State, size: int) -> int:
    """A random index from 0 to size - 1."""
    return int(chance(state) * size)


@compiled
def focus_node(fixed: Fixed, state: State) -> int:
    """A node off its band or to be drained, now and then any node."""
    size = state.counters[N_FOCUS]
    if size > 0 and chance(state) < 0.95:
        return int(state.focus[below(state, size)])
    return below(state, fixed.capacity.size)


@compiled
def emptier_node(fixed: Fixed, state: State) -> int:
    """The one of a few random receivers that has the most room below its band's middle."""
    best, most = -1, -1e300
    for _ in range(SAMPLES):
        node = fixed.receivers[below(state, fixed.receivers.size)]
        room = (state.low[node] + state.high[node]) / 2 - state.loads[node]
        if room > most:
            best, most = node, room
    return int(best)


@compiled
def fuller_node(fixed: Fixed, state: State) -> int:
    """The one of a few random nodes that has the most to give; marked ones have all of it."""
    best, most = -1, -1e300
    for _ in range(SAMPLES):
        node = below(state, fixed.capacity.size)
        middle = 0.0 if fixed.marked[node] else (state.low[node] + state.high[node]) / 2
        excess = state.loads[node] - middle
        if excess > most and state.filled[node] > 0:
            best, most = node, excess
    return int(best)


@compiled
def group_near(fixed: Fixed, state: State, node: int, load: float) -> int:
    """The one of a few random groups of a node whose load is nearest; -1 on an empty node."""
    best, least = -1, 1e300
    for _ in range(SAMPLES):
        if state.filled[node] > 0:
            group = state.slots[node, below(state, state.filled[node])]
            apart = abs(fixed.load[group] - load)
            if apart < least:
                best, least = group, apart
    return int(best)


@compiled
def any_group(state: State, node: int) -> int:
    """A random group of a node; -1 on an empty one."""
    if state.filled[node] == 0:
        return -1
    return int(state.slots[node, below(state, state.filled[node])])


@compiled
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


@compiled
def misfit(fixed: Fixed, state: State, node: int) -> float:
    """Load that a node must give away (or, below 0, take) to be in the middle of its band."""
    if fixed.marked[node]:
        return float(state.loads[node])
    return float(state.loads[node] - (state.low[node] + state.high[node]) / 2)


@compiled
def shift(fixed: Fixed, state: State, node: int) -> int:
    """Send one group away from a node that has too much, or to one that has too little; 0 if there is none."""
    excess = misfit(fixed, state, node)
    source, target = node, -1
    if excess > 0:
        target = emptier_node(fixed, state)
    elif not fixed.marked[node]:
        source, target = fuller_node(fixed, state), node
    if source < 0 or target < 0 or source == target:
        return 0
    wanted = min(abs(excess), abs(misfit(fixed, state, target if source == node else source)))
    group = group_near(fixed, state, source, wanted) if chance(state) < 0.5 else any_group(state, source)
    if group < 0:
        return 0
    state.groups[0], state.targets[0] = group, target
    return 1


@compiled
def swap(fixed: Fixed, state: State, node: int) -> int:
    """A shift, with a lighter group coming back for it."""
    if shift(fixed, state, node) == 0:
        return 0
    group, target = state.groups[0], state.targets[0]
    source = state.at[group]
    wanted = (misfit(fixed, state, source) - misfit(fixed, state, target)) / 2
    back = group_near(fixed, state, target, fixed.load[group] - wanted)
    if back < 0:
        return 0
    state.groups[1], state.targets[1] = back, source
    return 2


@compiled
def shift_and_return(fixed: Fixed, state: State, node: int) -> int:
    """A shift, paid for by another group going home."""
    if shift(fixed, state, node) == 0:
        return 0
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    state.groups[1], state.targets[1] = group, fixed.home[group]
    return 2


@compiled
def replace(fixed: Fixed, state: State, node: int) -> int:
    """A group goes home and another one of its home makes the same journey instead."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    here, home = state.at[group], fixed.home[group]
    wanted = fixed.load[group] + (misfit(fixed, state, home) - misfit(fixed, state, here)) / 2
    other = group_near(fixed, state, home, wanted)
    if other < 0:
        return 0
    state.groups[0], state.targets[0] = group, home
    state.groups[1], state.targets[1] = other, here
    return 2


@compiled
def redirect(fixed: Fixed, state: State, node: int) -> int:
    """A group that is not at home goes elsewhere instead, or home."""
    group = away_group(fixed, state, node)
    if group < 0:
        return 0
    target = fixed.home[group]
    if chance(state) < 0.8:
        target = emptier_node(fixed, state) if state.at[group] == node else node
    state.groups[0], state.targets[0] = group, target
    return 1


@compiled
def trade(fixed: Fixed, state: State, node: int) -> int:
    """Two groups that are not at home change places."""
    one, other = away_group(fixed, state, node), away_group(fixed, state, -1)
    if one < 0 or other < 0:
        return 0
    state.groups[0], state.targets[0] = one, state.at[other]
    state.groups[1], state.targets[1] = other, state.at[one]
    return 2


@compiled
def propose(fixed: Fixed, state: State) -> int:
    """Fill in a random step; its number of pieces, 0 if none came about."""
    node = focus_node(fixed, state)
    kind = chance(state)
    if kind < 0.25:
        return shift(fixed, state, node)
    if kind < 0.45:
        return swap(fixed, state, node)
    if kind < 0.6:
        return shift_and_return(fixed, state, node)
    if kind < 0.8:
        return replace(fixed, state, node)
    if kind < 0.9:
        return redirect(fixed, state, node)
    return trade(fixed, state, node)


@compiled
def anneal(fixed: Fixed, state: State, knobs: tuple[float, float, float, float, float], steps: int) -> int:
    """Make up to `steps` steps; stops early, and says how many it made, once every node is within its band.

    `knobs`: threshold at the first and after the last step, pain per drain weight that waits on marked nodes, price
    per move (percent points each), and the drain weight that must wait at most when it stops early.
    """
    first, last, drain, price, waiting = knobs
    for step in range(steps):
        if state.counters[N_OFF] == 0 and waiting_weight(state) <= waiting:
            return step
        pieces = propose(fixed, state)
        if pieces > 0:
            threshold = first + (last - first) * step / steps
            attempt(fixed, state, pieces, (threshold, drain, price))
    return steps
