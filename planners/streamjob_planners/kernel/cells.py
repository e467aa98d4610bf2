"""When cells end, under a placement, and which moves that is worth."""

from __future__ import annotations

import numpy as np

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.state import Fixed, State, must_gain_s, put, scheduled, take
from streamjob_planners.kernel.step import shift_load
from streamjob_planners.kernel.thin import room_at_home
from streamjob_planners.model import FloatArray, IntArray


@compiled
def add_up(fixed: Fixed, at: IntArray, free_at: FloatArray, loads: FloatArray) -> None:
    """Fill `loads`, (n_cells,) of zeros, as in `State.loads`; `free_at`: zeros, (n_cells, most slots)."""
    for group in range(at.size):
        cell = at[group]
        width = fixed.slots[cell]
        if width > 1:
            first = 0
            for slot in range(1, width):
                if free_at[cell, slot] < free_at[cell, first]:
                    first = slot
            free_at[cell, first] += fixed.load[group]
            loads[cell] = max(loads[cell], free_at[cell, first] * width)
        else:
            loads[cell] += fixed.load[group]


def loads_of(fixed: Fixed, node_of: IntArray) -> FloatArray:
    """What `State.loads` is under a placement, (n_cells,)."""
    loads = np.zeros(fixed.base.size)
    free_at = np.zeros((loads.size, int(fixed.slots.max(initial=1))))
    add_up(fixed, node_of + fixed.base[fixed.home], free_at, loads)
    return loads


@inlined
def level_of(fixed: Fixed, state: State, work: FloatArray, cell: int, staying: int) -> tuple[float, float]:
    """End of the level of a cell, and the root mean square of its nodes' work per slot over `staying` nodes."""
    base, n_nodes = fixed.base[cell], fixed.limits.shape[1]
    end, squares = 0.0, 0.0
    for one in range(base, base + n_nodes):
        end = max(end, state.loads[one] / fixed.capacity[one])
        busy = work[one] / fixed.capacity[one]
        squares += busy * busy
    return end, float((squares / staying) ** 0.5)


@inlined
def go(fixed: Fixed, state: State, work: FloatArray, group: int, cell: int) -> None:
    """Move a group, whatever that is worth; drain weights and bands are not kept up to date."""
    here = state.at[group]
    shift_load(fixed, state, group, cell, 1)
    take(fixed, state, group)
    put(fixed, state, group, cell)
    for node, change in ((here, -fixed.load[group]), (cell, fixed.load[group])):
        work[node] += change
        many = fixed.slots[node] > 1
        state.loads[node] = scheduled(fixed, state, node, 0) if many else state.loads[node] + change


@compiled
def send_home_unpaid(
    fixed: Fixed, state: State, work: FloatArray, groups: IntArray, knobs: tuple[float, float, int]
) -> int:
    """Send home those groups whose move gains less than its price; how many. `work`: of each cell, kept up to date.

    A move gains what its level ends the sooner for it, or the smaller root mean square, if that is more. `knobs`: price
    of a second of pause, least gain of any move (seconds), and how many nodes stay. Groups and their homes must be on
    unmarked nodes.
    """
    toll, least, staying = knobs
    sent = 0
    for place in range(groups.size):
        group = groups[place]
        here, home = state.at[group], fixed.home[group]
        if here == home or not room_at_home(fixed, state, group):
            continue
        end, rms = level_of(fixed, state, work, here, staying)
        go(fixed, state, work, group, home)
        end_without, rms_without = level_of(fixed, state, work, here, staying)
        if max(end_without - end, rms_without - rms) <= max(toll * must_gain_s(fixed, group, here), least):
            sent += 1
        else:
            go(fixed, state, work, group, here)
    return sent
