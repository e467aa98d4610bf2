"""Exact exchanges between two nodes: the cheapest of all that bring both into their bands, or leave them there.

Random steps come near a band, but hardly ever into a narrow one, and not at all once the budget is spent. Two nodes
have some hundred bundles each, so ten thousand exchanges: sorted by load, those that fit lie side by side.
"""

from __future__ import annotations

from streamjob_planners.kernel.bundles import GIVES, NONE, TAKES, Table, cheapest, cost_of, list_bundles, look_at
from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.state import N_AWAY, Fixed, State, chance
from streamjob_planners.kernel.step import attempt
from streamjob_planners.kernel.transfer import ANY_COST

MOST_TRIED = 40
"""Nodes with which a node tries to exchange."""
ANYWHERE = 0.5
"""Part of the pairs looked at for something to save whose other node is any; else it is where a group came from."""
NEXT_TO_NOTHING = 1e-9
"""Part of the budget that is not worth saving."""
STUCK = -2
"""Nothing can be exchanged."""


@inlined
def left_of(fixed: Fixed, state: State) -> float:
    """Part of the budget that is left."""
    left = 1.0
    for column in range(3):
        if state.spent[column] > 0.0:
            left = min(left, 1.0 - state.spent[column] / fixed.allowances[column])
    return left


@compiled
def off_by(state: State, node: int) -> float:
    """How far a node is off its band; below 0 inside."""
    return float(max(state.loads[node] - state.high[node], state.low[node] - state.loads[node]))


@inlined
def window(state: State, ends: tuple[int, int], slack: float) -> tuple[float, float]:
    """Load that ends[0] may give, so that it is in its band and the other one off its own by at most `slack`."""
    node, other = ends
    least = max(state.loads[node] - state.high[node], state.low[other] - state.loads[other] - slack)
    most = min(state.loads[node] - state.low[node], state.high[other] - state.loads[other] + slack)
    return least, most


@inlined
def keep_pair(table: Table, pair: tuple[int, int]) -> None:
    """Keep an exchange for later."""
    table.kept[0], table.kept[1] = table.one[GIVES, pair[0]], table.other[GIVES, pair[0]]
    table.kept[2], table.kept[3] = table.one[TAKES, pair[1]], table.other[TAKES, pair[1]]


@inlined
def make_kept(fixed: Fixed, state: State, table: Table, ends: tuple[int, int]) -> bool:
    """Make the exchange that was kept, if budget and resources allow it."""
    pieces = 0
    for place in range(4):
        if table.kept[place] != NONE:
            state.groups[pieces], state.targets[pieces] = table.kept[place], ends[1 - place // 2]
            pieces += 1
    return bool(pieces > 0 and attempt(fixed, state, pieces, (ANY_COST, 0.0, 0.0, 0.0)))


@compiled
def relieve(fixed: Fixed, state: State, table: Table, node: int, knobs: tuple[float, float]) -> int:
    """Bring a node into its band by the cheapest exchange with another one, from a random one on.

    Where none brings both into their bands, the cheapest of all after which the other one is off by `knobs[0]` at most.
    Gives that other one then, NONE where both are in their bands, STUCK where nothing was exchanged. `knobs[1]`: added
    to costs by chance there, at most, so that it does not go round in circles.
    """
    size, (slack, noise) = fixed.receivers.size, knobs
    start, left, kept, least = below(state, size), left_of(fixed, state), STUCK, 1e300
    look_at(fixed, state, table, GIVES, node)
    for number in range(min(size, MOST_TRIED)):
        other = fixed.receivers[(start + number) % size]
        wide, narrow = window(state, (node, other), slack), window(state, (node, other), 0.0)
        if other == node or wide[0] > wide[1]:
            continue
        look_at(fixed, state, table, TAKES, other)
        list_bundles(fixed, state, table, (node, other), left)
        pair = cheapest(table, left, narrow) if narrow[0] <= narrow[1] else (NONE, NONE)
        if pair[0] != NONE:
            keep_pair(table, pair)
            if make_kept(fixed, state, table, (node, other)):
                return NONE
        pair = cheapest(table, left, wide)
        cost = cost_of(table, pair) + noise * chance(state) if pair[0] != NONE else least
        if cost < least:
            keep_pair(table, pair)
            kept, least = other, cost
    if kept == STUCK or not make_kept(fixed, state, table, (node, kept)):
        return STUCK
    return kept if state.off[kept] else NONE


@compiled
def save(fixed: Fixed, state: State, table: Table, tries: int) -> None:
    """Exchanges between nodes in their bands that leave them there and cost less than nothing."""
    for _ in range(tries):
        if state.counters[N_AWAY] == 0:
            return
        group = state.away[below(state, state.counters[N_AWAY])]
        node, other = state.at[group], fixed.home[group]
        if chance(state) < ANYWHERE:
            other = fixed.receivers[below(state, fixed.receivers.size)]
        if node == other or state.off[node] or state.off[other] or fixed.marked[other]:
            continue
        look_at(fixed, state, table, GIVES, node)
        look_at(fixed, state, table, TAKES, other)
        list_bundles(fixed, state, table, (node, other), 0.0)
        pair = cheapest(table, -NEXT_TO_NOTHING, window(state, (node, other), 0.0))
        if pair[0] != NONE:
            keep_pair(table, pair)
            make_kept(fixed, state, table, (node, other))
