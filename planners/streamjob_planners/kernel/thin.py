"""Sending groups home again where that costs little."""

from __future__ import annotations

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.state import Fixed, State, put, take
from streamjob_planners.kernel.step import shift_load
from streamjob_planners.model import IntArray


@inlined
def apart(fixed: Fixed, state: State, node: int, knobs: tuple[float, float]) -> float:
    """Distance of a node's utilisation from the mean once knobs[1] load is added; knobs[0] is the mean."""
    return float(abs((state.loads[node] + knobs[1]) / fixed.capacity[node] - knobs[0]))


@inlined
def room_at_home(fixed: Fixed, state: State, group: int) -> bool:
    """Whether the further resources of its home have room for the group."""
    home = fixed.node[fixed.home[group]]
    for row in range(fixed.uses.shape[0]):
        if state.held[row, home] + fixed.uses[row, group] > fixed.limits[row, home]:
            return False
    return True


@compiled
def send_home(fixed: Fixed, state: State, groups: IntArray, span: tuple[int, int], knobs: tuple[float, ...]) -> float:
    """Send home those of groups[span[0]:span[1]] without which the distance grows by less than a move's price.

    `knobs`: mean, price of a move, distance so far (percent points). Gives the distance afterwards. Bands are not kept
    up to date; all groups are on unmarked nodes, and so are their homes.
    """
    mean, price, worth = knobs
    for place in range(span[0], span[1]):
        group = groups[place]
        here, home = state.at[group], fixed.home[group]
        load = fixed.load[group]
        without = max(worth, apart(fixed, state, here, (mean, -load)), apart(fixed, state, home, (mean, load)))
        if without <= worth + price + 1e-9 and room_at_home(fixed, state, group):
            shift_load(fixed, state, group, home, 1)
            take(fixed, state, group)
            put(fixed, state, group, home)
            state.loads[here] -= load
            state.loads[home] += load
            worth = without
    return float(worth)
