"""The arrays that the inner loops work on, and the elementary operations on them.

A *cell* is a node within a level: key groups only move between cells of one level, budget and further resources are
shared by all. Cell `level * n_nodes + node`. For the load distance there is one level and a cell is a node; for the
time of a batch every level of it has cells of its own, and a cell with several slots counts what its list schedule
makes of its tasks instead of their sum.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.model import BoolArray, FloatArray, IntArray

N_AWAY, N_FOCUS, N_OFF, SEED = 0, 1, 2, 3
"""Where `State.counters` holds the length of `away`, of `focus`, the nodes off their band, and the chance's state."""
LEFT, CAME = 0, 1
"""The rows of `State.crossed` and `State.most_crossed`."""
NO_GROUP = 1 << 62
"""Larger than the number of any group."""
NOBODY = -1
"""Where a list of groups ends."""
MOST_PIECES = 4
"""Groups that change place in one step, at most."""
EDGE = 1e-9
"""Percent points by which a band may be missed: sums of floats are not exact."""
MODULUS, FACTOR = 2147483647, 48271
"""Park and Miller's generator: integers that never overflow, so compiled and interpreted code agree."""


class Fixed(NamedTuple):
    """What does not change while searching. Shapes as in LoadModel and Problem, but (n_cells,) for those of nodes.

    `drag` is the drain's weights; `vacant` cells are those of nodes without a group today: a move to one need not gain
    what its pause costs; `base` the first cell of a cell's level, `node` its node, `slots` the tasks that it
    runs at a time where their order matters, 1 where only their sum does; `own[first[i]:first[i + 1]]` are the movable
    groups whose home cell i is, lightest first, and `own_load` their loads, in their order.
    """

    load: FloatArray
    drag: FloatArray
    prices: FloatArray
    allowances: FloatArray
    capacity: FloatArray
    marked: BoolArray
    vacant: BoolArray
    movable: BoolArray
    uses: FloatArray
    limits: FloatArray
    home: IntArray
    receivers: IntArray  # indices of unmarked nodes
    base: IntArray
    node: IntArray
    slots: IntArray
    own: IntArray
    own_load: FloatArray
    first: IntArray  # (n_cells + 1,)


class State(NamedTuple):
    """What changes: a placement and everything that is kept up to date with it.

    `slots[i, :filled[i]]` are the groups in cell i and `slot[k]` is the place of group k there, by number where the
    cell's order matters; `away` lists groups that are not at home, `focus` cells worth looking at: off their band, or
    marked and not empty. `loads` is what bands are about: the sum, or slots times the end of the list schedule.
    `newest[CAME, i]` and, group after group, `older[CAME]` list those of others that are in cell i, and with LEFT its
    own that are elsewhere, up to NOBODY: few of many, so that nobody has to look through all.
    """

    at: IntArray
    loads: FloatArray
    sums: FloatArray  # of the groups' loads, in cells of several slots
    dragged: FloatArray
    spent: FloatArray
    paused: FloatArray  # (1,): seconds of pause of moves that must gain them
    held: FloatArray
    slots: IntArray
    filled: IntArray
    slot: IntArray
    away: IntArray
    away_at: IntArray
    newest: IntArray  # (2, n_nodes)
    older: IntArray  # (2, n_groups)
    newer: IntArray  # (2, n_groups)
    low: FloatArray
    high: FloatArray
    middle: FloatArray  # what a cell is filled up to and emptied down to
    bend: FloatArray  # pain per squared utilisation
    steep: BoolArray  # (1,): whether the square of what a cell is off its band hurts
    free_at: FloatArray  # when each slot is free, while a list schedule is made
    focus: IntArray
    focus_at: IntArray
    off: BoolArray  # outside its band, (n_nodes,)
    counters: IntArray
    groups: IntArray  # (MOST_PIECES,): the step being tried
    targets: IntArray  # (MOST_PIECES,)
    saved: FloatArray  # (MOST_PIECES, 4): loads and drags before each piece of it
    crossed: IntArray  # (2, n_nodes): LEFT, groups of the node that are elsewhere; CAME, groups of others that are here
    most_crossed: IntArray  # (2, n_nodes): how many there may be after a step that adds to them


@inlined
def chance(state: State) -> float:
    """The next number in [0, 1)."""
    state.counters[SEED] = (state.counters[SEED] * FACTOR) % MODULUS
    return float((state.counters[SEED] - 1) / (MODULUS - 1))


@inlined
def accepted(state: State, change: float, temperature: float) -> bool:
    """Metropolis' rule: what gets better always, what gets worse by chance; a temperature above 0."""
    return bool(change <= 0.0 or chance(state) < math.exp(-change / temperature))


@inlined
def is_off(state: State, node: int) -> bool:
    """Whether a node is outside its band."""
    load = state.loads[node]
    return bool(load > state.high[node] + EDGE or load < state.low[node] - EDGE)


@inlined
def is_full(state: State, node: int) -> bool:
    """Whether a node's slots might not suffice for one more step."""
    return bool(state.filled[node] + MOST_PIECES >= state.slots.shape[1])


@inlined
def must_gain_s(fixed: Fixed, group: int, node: int) -> float:
    """Seconds of pause that a group's being there must gain; 0 at home, and where there is nothing today."""
    if node == fixed.home[group] or fixed.vacant[node]:
        return 0.0
    return float(fixed.prices[group, 0])


@inlined
def enlist(state: State, row: int, node: int, group: int) -> None:
    """Enter a group in a node's list of those that came, or left."""
    last = state.newest[row, node]
    state.older[row, group], state.newer[row, group] = last, NOBODY
    if last != NOBODY:
        state.newer[row, last] = group
    state.newest[row, node] = group


@inlined
def delist(state: State, row: int, node: int, group: int) -> None:
    """Strike a group from such a list."""
    older, newer = state.older[row, group], state.newer[row, group]
    if newer == NOBODY:
        state.newest[row, node] = older
    else:
        state.older[row, newer] = older
    if older != NOBODY:
        state.newer[row, older] = newer


@inlined
def put(fixed: Fixed, state: State, group: int, node: int) -> None:
    """Enter a group in a node's slots, and in `away` if that is not its home."""
    place = state.filled[node]
    if fixed.slots[node] > 1:
        while place > 0 and state.slots[node, place - 1] > group:
            state.slots[node, place] = state.slots[node, place - 1]
            state.slot[state.slots[node, place]] = place
            place -= 1
    state.slots[node, place] = group
    state.slot[group] = place
    state.filled[node] += 1
    state.at[group] = node
    if node != fixed.home[group]:
        state.away[state.counters[N_AWAY]] = group
        state.away_at[group] = state.counters[N_AWAY]
        state.counters[N_AWAY] += 1
        enlist(state, CAME, node, group)
        enlist(state, LEFT, fixed.home[group], group)


@inlined
def take(fixed: Fixed, state: State, group: int) -> None:
    """Strike a group from its node's slots, and from `away`."""
    node = state.at[group]
    state.filled[node] -= 1
    if fixed.slots[node] > 1:
        for place in range(state.slot[group], state.filled[node]):
            state.slots[node, place] = state.slots[node, place + 1]
            state.slot[state.slots[node, place]] = place
    else:
        last = state.slots[node, state.filled[node]]
        state.slots[node, state.slot[group]] = last
        state.slot[last] = state.slot[group]
    if node != fixed.home[group]:
        last = state.away[state.counters[N_AWAY] - 1]
        state.away[state.away_at[group]] = last
        state.away_at[last] = state.away_at[group]
        state.counters[N_AWAY] -= 1
        delist(state, CAME, node, group)
        delist(state, LEFT, fixed.home[group], group)


@inlined
def refocus(fixed: Fixed, state: State, node: int) -> None:
    """Count a node as off its band or not, and enter it in `focus` or strike it, as its load now asks."""
    off = is_off(state, node)
    state.counters[N_OFF] += int(off) - int(state.off[node])
    state.off[node] = off
    wanted = off or (fixed.marked[node] and state.filled[node] > 0)
    place = state.focus_at[node]
    if wanted and place < 0:
        state.focus[state.counters[N_FOCUS]] = node
        state.focus_at[node] = state.counters[N_FOCUS]
        state.counters[N_FOCUS] += 1
    elif not wanted and place >= 0:
        last = state.focus[state.counters[N_FOCUS] - 1]
        state.focus[place] = last
        state.focus_at[last] = place
        state.counters[N_FOCUS] -= 1
        state.focus_at[node] = -1


@inlined
def next_group(state: State, step: tuple[int, int], here: int, last: int) -> tuple[int, bool]:
    """The group of a cell that is started after `last`, and whether it stays there.

    `step`: the cell, and the pieces of the step being tried that are taken as made; `here`: the next one that is there.
    """
    cell, pieces = step
    group, stays = here, True
    for piece in range(pieces):
        other = state.groups[piece]
        if other == group:
            stays = False
        elif state.targets[piece] == cell and last < other < group:
            group, stays = other, True
    return group, stays


@inlined
def first_free(state: State, width: int) -> int:
    """The slot that is free first."""
    first = 0
    for slot in range(1, width):
        if state.free_at[slot] < state.free_at[first]:
            first = slot
    return first


@inlined
def scheduled(fixed: Fixed, state: State, cell: int, pieces: int) -> float:
    """Slots times the end of a cell's tasks, each started by number on the slot that is free first.

    The first `pieces` pieces of the step being tried are taken as made.
    """
    width, place, last, end = fixed.slots[cell], 0, -1, 0.0
    for slot in range(width):
        state.free_at[slot] = 0.0
    while True:
        here = state.slots[cell, place] if place < state.filled[cell] else NO_GROUP
        group, stays = next_group(state, (cell, pieces), here, last)
        if group == NO_GROUP:
            return float(end * width)
        last = group
        place += int(group == here)
        if stays:
            first = first_free(state, width)
            state.free_at[first] += fixed.load[group]
            end = max(end, state.free_at[first])


@compiled
def set_bands(fixed: Fixed, state: State, bands: tuple[FloatArray, FloatArray, FloatArray]) -> None:
    """New bands for all cells: lowest load, highest, and what to fill up to."""
    low, high, middle = bands
    state.counters[N_FOCUS] = 0
    state.counters[N_OFF] = 0
    for node in range(fixed.capacity.size):
        state.low[node], state.high[node], state.middle[node] = low[node], high[node], middle[node]
        state.focus_at[node], state.off[node] = -1, False
    for node in range(fixed.capacity.size):
        refocus(fixed, state, node)


@compiled
def waiting_weight(state: State) -> float:
    """Drain weight on marked nodes."""
    total = 0.0
    for node in range(state.dragged.size):
        total += state.dragged[node]
    return total
