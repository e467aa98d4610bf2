"""Bundles of up to two groups that two nodes can give each other, and the cheapest exchange of two of them."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from streamjob_planners.kernel.compiled import inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.state import Fixed, State
from streamjob_planners.kernel.transfer import sort_heaviest_first
from streamjob_planners.model import FloatArray, IntArray

MOST_GROUPS = 24
"""Groups of a node that are looked at: first those that are not at home, then others by chance."""
MOST_BUNDLES = 1 + MOST_GROUPS + MOST_GROUPS * (MOST_GROUPS - 1) // 2
NONE = -1
"""No group, no bundle, no node."""
GIVES, TAKES = 0, 1
"""Rows of a table."""


class Table(NamedTuple):
    """Bundles of two nodes, a row each; what a journey costs is part of the budget, less than 0 where it ends at home.

    Attributes:
        price: of each group, a part of the budget, (n_groups,).
        groups: those looked at, (2, MOST_GROUPS).
        load: of each bundle, (2, MOST_BUNDLES).
        cost: of its journey.
        one: its first group, NONE in the empty bundle.
        other: its second, NONE where there is none.
        order: bundles, heaviest first.
        counts: groups and bundles of each row, (2, 2).
        kept: the four groups of an exchange that may be made later, (4,).
    """

    price: FloatArray
    groups: IntArray
    load: FloatArray
    cost: FloatArray
    one: IntArray
    other: IntArray
    order: IntArray
    counts: IntArray
    kept: IntArray


def new_table(price: FloatArray) -> Table:
    """Room to work in. `price`: of each group, a part of the budget, (n_groups,)."""
    bundles = (2, MOST_BUNDLES)
    return Table(
        price=price,
        groups=np.zeros((2, MOST_GROUPS), dtype=np.int64),
        load=np.zeros(bundles),
        cost=np.zeros(bundles),
        one=np.zeros(bundles, dtype=np.int64),
        other=np.zeros(bundles, dtype=np.int64),
        order=np.zeros(bundles, dtype=np.int64),
        counts=np.zeros((2, 2), dtype=np.int64),
        kept=np.full(4, NONE, dtype=np.int64),
    )


@inlined
def note_group(fixed: Fixed, table: Table, row: int, group: int) -> None:
    """One more group to look at, if it may move and there is room."""
    count = table.counts[row, 0]
    if count < MOST_GROUPS and fixed.movable[group]:
        table.groups[row, count] = group
        table.counts[row, 0] += 1


@inlined
def look_at(fixed: Fixed, state: State, table: Table, row: int, node: int) -> None:
    """Fill a row with groups of a node."""
    filled = state.filled[node]
    table.counts[row, 0] = 0
    for place in range(filled):
        if fixed.home[state.slots[node, place]] != node:
            note_group(fixed, table, row, state.slots[node, place])
    start = below(state, filled)
    for step in range(min(filled, 4 * MOST_GROUPS)):
        group = state.slots[node, (start + step) % filled]
        if fixed.home[group] == node:
            note_group(fixed, table, row, group)


@inlined
def enter(table: Table, row: int, bundle: tuple[int, int], load: float, cost: float) -> None:
    """One more bundle."""
    at = table.counts[row, 1]
    table.one[row, at], table.other[row, at] = bundle
    table.load[row, at], table.cost[row, at], table.order[row, at] = load, cost, at
    table.counts[row, 1] += 1


@inlined
def added(fixed: Fixed, state: State, table: Table, group: int, target: int) -> float:
    """What is spent more when a group goes to a node."""
    home = fixed.home[group]
    return float(table.price[group] * (int(target != home) - int(state.at[group] != home)))


@inlined
def most_saved(fixed: Fixed, table: Table, row: int, target: int) -> float:
    """What the bundle of a row that saves most saves: its groups are at home at `target`."""
    first, second = 0.0, 0.0
    if not fixed.marked[target]:
        for place in range(table.counts[row, 0]):
            group = table.groups[row, place]
            if fixed.home[group] == target and table.price[group] > second:
                second = min(first, table.price[group])
                first = max(first, table.price[group])
    return float(first + second)


@inlined
def list_row(fixed: Fixed, state: State, table: Table, row: int, target: int, most: tuple[float, float]) -> None:
    """Fill a row with the bundles of its groups that cost at most most[0], all of them to go to `target`.

    Only the empty one goes to a marked node. `most[1]` is what the second group of a bundle saves at most.
    """
    groups, table.counts[row, 1], count = table.groups[row], 0, 0
    enter(table, row, (NONE, NONE), 0.0, 0.0)
    for place in range(0 if fixed.marked[target] else table.counts[row, 0]):
        one = groups[place]
        load, cost = fixed.load[one], added(fixed, state, table, one, target)
        if cost > most[0] + most[1]:
            continue
        if cost <= most[0]:
            enter(table, row, (one, NONE), load, cost)
        for before in range(count):
            other = groups[before]
            both = cost + added(fixed, state, table, other, target)
            if both <= most[0]:
                enter(table, row, (one, other), load + fixed.load[other], both)
        groups[place] = groups[count]
        groups[count] = one
        count += 1
    sort_heaviest_first(table.load[row], table.order[row], table.counts[row, 1])


@inlined
def list_bundles(fixed: Fixed, state: State, table: Table, ends: tuple[int, int], left: float) -> None:
    """Fill both rows with what two nodes can give each other, without what costs more than the other row can save."""
    saved = (most_saved(fixed, table, GIVES, ends[1]), most_saved(fixed, table, TAKES, ends[0]))
    list_row(fixed, state, table, GIVES, ends[1], (left + saved[TAKES], saved[GIVES]))
    list_row(fixed, state, table, TAKES, ends[0], (left + saved[GIVES], saved[TAKES]))


@inlined
def cost_of(table: Table, pair: tuple[int, int]) -> float:
    """What an exchange costs, a part of the budget."""
    return float(table.cost[GIVES, pair[0]] + table.cost[TAKES, pair[1]])


@inlined
def cheapest(table: Table, least: float, between: tuple[float, float]) -> tuple[int, int]:
    """The pair of bundles whose loads differ by something in between for the lowest cost, at most `least`; or NONEs.

    Both rows are sorted, so the bundles that go with one lie side by side, and further down for the next one.
    """
    best, first = (NONE, NONE), 0
    for place in range(table.counts[GIVES, 1]):
        gives = table.order[GIVES, place]
        load = table.load[GIVES, gives]
        while first < table.counts[TAKES, 1] and table.load[TAKES, table.order[TAKES, first]] > load - between[0]:
            first += 1
        at = first
        while at < table.counts[TAKES, 1] and table.load[TAKES, table.order[TAKES, at]] >= load - between[1]:
            pair = (gives, table.order[TAKES, at])
            if cost_of(table, pair) <= least:
                best, least = pair, cost_of(table, pair)
            at += 1
    return best
