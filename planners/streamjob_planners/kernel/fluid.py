"""Where heavy groups go, with the light ones as a fluid: annealing of what it costs to bring every node into its band.

Where a few heavy groups make most of what nodes have too much, a placement is as good as the choice of those that make
the journey. Once they have their places, what a node still has too much leaves it as light groups, and costs as much as
the cheapest of these do for their load. So the placement of heavy groups has a price: their own, and that of the fluid.
"""

from __future__ import annotations

from typing import NamedTuple

from streamjob_planners.kernel.compiled import compiled, inlined
from streamjob_planners.kernel.near import below
from streamjob_planners.kernel.state import Fixed, State, accepted, chance
from streamjob_planners.model import FloatArray, IntArray

TAKEN, GIVEN, LACKING = 0, 1, 2
"""Where `Fluid.totals` holds the price of all, and the load that nodes have above and lack below their bands."""
SWAPS = 0.5
"""Part of the steps that exchange two heavy groups; the others send one."""
HOMEWARD = 0.3
"""Part of those that send one home."""


class Fluid(NamedTuple):
    """Heavy groups with their places, and what the light ones of each node cost.

    Attributes:
        groups: the heavy ones, (n_heavy,).
        at: node of each, (n_heavy,).
        price: what the journey of each takes, a part of the budget, (n_heavy,).
        loads: of each node, light groups at home, (n_nodes,).
        first: each node's first entry in the next two, (n_nodes + 1,).
        gives: load that the cheapest light groups of a node take away: none, one, two, ..., (n_light + n_nodes,).
        costs: what they take of the budget, a part of it, (n_light + n_nodes,).
        dearest: what a unit of load costs that no light group takes away, (1,).
        usual: what a unit of load costs that only has to leave because others lack it, (1,).
        held: what each node holds of further resources, (n_resources, n_nodes).
        totals: see above, (3,).
    """

    groups: IntArray
    at: IntArray
    price: FloatArray
    loads: FloatArray
    first: IntArray
    gives: FloatArray
    costs: FloatArray
    dearest: FloatArray
    usual: FloatArray
    held: FloatArray
    totals: FloatArray


@inlined
def cost_of_giving(fluid: Fluid, node: int, load: float) -> float:
    """What it costs that so much load leaves a node as light groups."""
    low, high = fluid.first[node], fluid.first[node + 1] - 1
    if load >= fluid.gives[high]:
        return float(fluid.costs[high] + (load - fluid.gives[high]) * fluid.dearest[0])
    while high - low > 1:
        middle = (low + high) // 2
        if fluid.gives[middle] <= load:
            low = middle
        else:
            high = middle
    part = (load - fluid.gives[low]) / (fluid.gives[high] - fluid.gives[low])
    return float(fluid.costs[low] + part * (fluid.costs[high] - fluid.costs[low]))


@inlined
def count_node(state: State, fluid: Fluid, node: int, sign: float) -> None:
    """Add what a node costs, gives and lacks to the totals, or take it away."""
    excess = fluid.loads[node] - state.high[node]
    if excess > 0.0:
        fluid.totals[TAKEN] += sign * cost_of_giving(fluid, node, excess)
        fluid.totals[GIVEN] += sign * excess
    elif fluid.loads[node] < state.low[node]:
        fluid.totals[LACKING] += sign * (state.low[node] - fluid.loads[node])


@compiled
def count_all(state: State, fluid: Fluid) -> None:
    """The totals anew; all heavy groups are at home."""
    fluid.totals[:] = 0.0
    for node in range(fluid.loads.size):
        count_node(state, fluid, node, 1.0)


@inlined
def whole_price(fluid: Fluid) -> float:
    """A placement's price."""
    return float(fluid.totals[TAKEN] + fluid.usual[0] * max(0.0, fluid.totals[LACKING] - fluid.totals[GIVEN]))


@inlined
def carry(fixed: Fixed, state: State, fluid: Fluid, place: int, node: int) -> None:
    """Bring a heavy group to a node."""
    group, here = fluid.groups[place], fluid.at[place]
    count_node(state, fluid, here, -1.0)
    count_node(state, fluid, node, -1.0)
    fluid.loads[here] -= fixed.load[group]
    fluid.loads[node] += fixed.load[group]
    count_node(state, fluid, here, 1.0)
    count_node(state, fluid, node, 1.0)
    for row in range(fixed.uses.shape[0]):
        fluid.held[row, here] -= fixed.uses[row, group]
        fluid.held[row, node] += fixed.uses[row, group]
    away = int(node != fixed.home[group]) - int(here != fixed.home[group])
    fluid.totals[TAKEN] += away * fluid.price[place]
    fluid.at[place] = node


@inlined
def may_carry(fixed: Fixed, fluid: Fluid, place: int, node: int) -> bool:
    """Whether that would be a step, and is allowed."""
    home = fixed.home[fluid.groups[place]]
    return bool(node != fluid.at[place] and (node == home or not fixed.marked[node]))


@inlined
def fits(fixed: Fixed, fluid: Fluid, node: int) -> bool:
    """Whether a node holds no more of any further resource than it may."""
    over = 0
    for row in range(fixed.uses.shape[0]):
        over += int(fluid.held[row, node] > fixed.limits[row, node])
    return over == 0


@compiled
def anneal_heavy(
    fixed: Fixed, state: State, fluid: Fluid, heat: tuple[float, float], span: tuple[int, int, int]
) -> None:
    """Steps span[0] to span[1] of span[2], by Metropolis, while it cools from heat[0] to heat[1]."""
    n_heavy = fluid.groups.size
    for step in range(span[0], span[1]):
        temperature = heat[0] * (heat[1] / heat[0]) ** (step / span[2])
        one, other = below(state, n_heavy), -1
        here, target = fluid.at[one], fixed.receivers[below(state, fixed.receivers.size)]
        if chance(state) < SWAPS:
            other = below(state, n_heavy)
            target = fluid.at[other]
        elif chance(state) < HOMEWARD:
            target = fixed.home[fluid.groups[one]]
        if not may_carry(fixed, fluid, one, target) or (other >= 0 and not may_carry(fixed, fluid, other, here)):
            continue
        before = whole_price(fluid)
        carry(fixed, state, fluid, one, target)
        if other >= 0:
            carry(fixed, state, fluid, other, here)
        change = whole_price(fluid) - before
        full = not fits(fixed, fluid, target) or (other >= 0 and not fits(fixed, fluid, here))
        if full or not accepted(state, change, temperature):
            carry(fixed, state, fluid, one, here)
            if other >= 0:
                carry(fixed, state, fluid, other, target)
