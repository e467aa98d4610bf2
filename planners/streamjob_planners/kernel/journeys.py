"""Journeys: who leaves where and arrives where, in numbers of heavy and of light groups; and exchanges that keep these.

A *kind* is light (0) or heavy (1), a *bundle* so many heavy and so many light groups, by its number in a list of them.
"""

from __future__ import annotations

from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.state import Fixed, State, accepted, chance
from streamjob_planners.model import FloatArray, IntArray

NOWHERE = 1e300
"""Price of what cannot be chosen."""


class Options(NamedTuple):
    """What each node may choose.

    Attributes:
        price: of each option, (n_nodes, n_options).
        listed: those that are looked at, by number, (n_nodes, n_options).
        many: how many these are, (n_nodes,).
        surplus: groups of each kind that leave with an option, less those that arrive, (2, n_options).
    """

    price: FloatArray
    listed: IntArray
    many: IntArray
    surplus: IntArray


@compiled
def count_sets(
    fixed: Fixed, kind: IntArray, cell_load: float, larger: IntArray, sets: FloatArray, heaviest: IntArray
) -> None:
    """How many sets of its own groups each node has, by bundle and load: `sets`, (n_nodes, n_bundles, n_cells).

    A cell is `cell_load` wide. `larger`: the bundle with one more of a kind, -1 where there is none, (2, n_bundles);
    its number is the larger one. `heaviest`: room for the last cell of each bundle that has a set, (n_bundles,).
    """
    sets[:] = 0.0
    for node in range(sets.shape[0]):
        sets[node, 0, 0] = 1.0
        heaviest[:] = -1
        heaviest[0] = 0
        for place in range(fixed.first[node], fixed.first[node + 1]):
            group = fixed.own[place]
            shift = int(fixed.load[group] / cell_load + 0.5)
            for bundle in range(sets.shape[1] - 1, -1, -1):
                to, end = larger[kind[group], bundle], min(heaviest[bundle] + 1, sets.shape[2] - shift)
                if to >= 0 and end > 0:
                    for cell in range(end):
                        sets[node, to, cell + shift] += sets[node, bundle, cell]
                    heaviest[to] = max(heaviest[to], end - 1 + shift)


@compiled
def choose_for_all(options: Options, most: int, best: FloatArray, chosen: IntArray) -> bool:
    """The cheapest option of each node such that as many groups leave as arrive, of each kind; whether there is one.

    `most`: by how many both may differ before the last node. `best` is room to work in, (2, 2 * most + 1 squared), and
    `chosen`, (n_nodes + 1, 2 * most + 1 squared), has the options in its last row, node by node.
    """
    width, nodes = 2 * most + 1, options.many.size
    middle = most * width + most
    best[0, :] = NOWHERE
    best[0, middle] = 0.0
    for node in range(nodes):
        now, then = best[node % 2], best[1 - node % 2]
        then[:] = NOWHERE
        for number in range(options.many[node]):
            option = options.listed[node, number]
            light, heavy, price = options.surplus[0, option], options.surplus[1, option], options.price[node, option]
            for row in range(max(0, -heavy), min(width, width - heavy)):
                for column in range(max(0, -light), min(width, width - light)):
                    at = row * width + column
                    to = at + heavy * width + light
                    if now[at] + price < then[to]:
                        then[to] = now[at] + price
                        chosen[node, to] = option
    if best[nodes % 2, middle] >= NOWHERE:
        return False
    at = middle
    for node in range(nodes - 1, -1, -1):
        option = chosen[node, at]
        chosen[nodes, node] = option
        at -= options.surplus[1, option] * width + options.surplus[0, option]
    return True


@inlined
def square(off: float) -> float:
    """What hurts."""
    return off * off


@inlined
def replace(
    fixed: Fixed, state: State, kind: IntArray, at: IntArray, going: IntArray, off: FloatArray, temperature: float
) -> None:
    """Another group of the same home and kind makes a journey."""
    place = below(state, going.size)
    group = going[place]
    home, target = fixed.home[group], at[group]
    first = fixed.first[home]
    other = fixed.own[first + below(state, fixed.first[home + 1] - first)]
    if at[other] != home or kind[other] != kind[group]:
        return
    more = fixed.load[other] - fixed.load[group]
    change = square(off[home] - more) - square(off[home]) + square(off[target] + more) - square(off[target])
    if accepted(state, change, temperature):
        at[group], at[other], going[place] = home, target, other
        off[home] -= more
        off[target] += more


@inlined
def trade(
    fixed: Fixed, state: State, kind: IntArray, at: IntArray, going: IntArray, off: FloatArray, temperature: float
) -> None:
    """Two groups of the same kind go where the other one would."""
    group, other = going[below(state, going.size)], going[below(state, going.size)]
    here, there = at[group], at[other]
    if here == there or kind[group] != kind[other] or fixed.home[other] == here or fixed.home[group] == there:
        return
    more = fixed.load[other] - fixed.load[group]
    change = square(off[here] + more) - square(off[here]) + square(off[there] - more) - square(off[there])
    if accepted(state, change, temperature):
        at[group], at[other] = there, here
        off[here] += more
        off[there] -= more


@compiled
def cool(
    fixed: Fixed,
    state: State,
    journeys: tuple[IntArray, IntArray, IntArray, FloatArray],
    heat: tuple[float, float],
    span: tuple[int, int, int],
) -> None:
    """Steps span[0] to span[1] of a cooling of span[2], from the temperature heat[0] to heat[1].

    `journeys`: the kind of each group, where it is, (n_groups,); those that travel; what each node is off, (n_nodes,).
    Temperatures are squares of loads.
    """
    kind, at, going, off = journeys
    for step in range(span[0], span[1]):
        temperature = heat[0] * (heat[1] / heat[0]) ** (step / span[2])
        if chance(state) < 0.5:
            replace(fixed, state, kind, at, going, off, temperature)
        else:
            trade(fixed, state, kind, at, going, off, temperature)
