"""Heavy groups first: where they go is found with the light ones as a fluid, then light ones do what is left.

Random steps choose among all groups at once, and what they began with decides which heavy ones travel: later the budget
is spent, and an exchange of two heavy groups leaves two nodes off that only many light ones could mend. Here the budget
is what is made small and the bands are kept, so that nothing stands in the way of exchanging heavy groups.
"""

from __future__ import annotations

import math

import numpy as np

from streamjob_planners.covering import LEAST_PRICE, Prices, given_out
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.kernel.fluid import TAKEN, Fluid, anneal_heavy, count_all
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem
from streamjob_planners.two_kinds import heavy_ones

PER_NODE, MOST_HEAVY = 4, 1000
"""Heavy groups for each node, and in all, at most: the others are the fluid."""
FEWEST_HEAVY = 0.5
"""Heavy groups for each node from which on these alone are placed, where they and light ones are two kinds apart."""
MOST_OF_LOAD = 0.4
"""Part of all load that heavy groups have at least where placing them first is of use: of equal ones it is not."""
STEPS_PER_GROUP = 400
"""Steps of one cooling for each heavy group."""
CHUNK = 2048
"""Steps between two looks at the clock."""
TARGETS, TARGET_SHARE = 4, 0.5
"""Distances that are aimed at one after the other, and the part of what is left that one cooling takes at most."""
HOT, COLD = 0.5, 0.005
"""First and last temperature, as parts of the mean price of a heavy group's journey."""
DEAREST = 10.0
"""A unit of load that no light group takes away costs so many times what the dearest one does."""


def few_decide(problem: Problem) -> bool:
    """Whether few groups have most of the load, so that placing them first is of use."""
    load = problem.model.load
    return float(load[heaviest(problem)].sum()) >= MOST_OF_LOAD * float(load.sum()) > 0.0


def heaviest(problem: Problem) -> BoolArray:
    """The heaviest groups that may move, (n_groups,): of two kinds the heavier one, or as many as are placed at most.

    Light ones among them take the time that heavy ones need, and each would be placed as if the others were a fluid.
    """
    load, movable = problem.model.load, problem.movable
    movables = int(movable.sum())
    count = min(PER_NODE * problem.model.n_nodes, MOST_HEAVY, movables)
    descending = np.argsort(np.where(movable, -load, np.inf), kind="stable")[: min(count + 1, movables)]
    kind = heavy_ones(load[descending], math.ceil(FEWEST_HEAVY * problem.model.n_nodes), count)
    heavy = np.zeros(load.size, dtype=np.bool_)
    heavy[descending[:count] if kind is None else descending[kind]] = True
    return heavy


def heavy_first(engine: Engine, limits: Limits, between: tuple[float, float]) -> IntArray | None:
    """A placement within the budget that aims at a distance, (n_groups,); which one is by the engine's chance.

    It aims at between[0], and where that is found to be too dear, half as far from between[1], and again. None where
    all are.
    """
    problem, (target, widest) = engine.problem, between
    price = np.maximum(problem.parts(), LEAST_PRICE)
    heavy = heaviest(problem)
    for _ in range(TARGETS):
        with limits.lent(TARGET_SHARE) as part:
            fluid = _cooled(engine, part, price, heavy, target)
        node_of = problem.model.node_of.copy()
        node_of[fluid.groups] = fluid.at
        left = 1.0 - float(price[node_of != problem.model.node_of].sum())
        if left > 0.0 and float(fluid.totals[TAKEN]) <= 1.0:
            engine.load(node_of)
            engine.set_bands(*Distance(problem).bands(target))
            given_out(engine, Prices(engine, np.where(heavy, DEAREST, price / left)))
            return engine.placement()
        target = (target + widest) / 2
    return None


def _cooled(engine: Engine, limits: Limits, price: FloatArray, heavy: BoolArray, target: float) -> Fluid:
    """Heavy groups after one cooling towards that distance."""
    problem = engine.problem
    engine.load(problem.model.node_of)
    engine.set_bands(*Distance(problem).bands(target))
    fluid = _fluid(engine, price, heavy)
    _cool(engine, limits, fluid)
    return fluid


def _fluid(engine: Engine, price: FloatArray, heavy: BoolArray) -> Fluid:
    """The heavy groups at home, and the light ones of each node, cheapest for their load first."""
    fixed, n_nodes = engine.fixed, engine.problem.model.n_nodes
    light = np.flatnonzero(fixed.movable & ~heavy & (fixed.load > 0.0))
    light = light[np.lexsort((price[light] / fixed.load[light], fixed.home[light]))]
    counts = np.bincount(fixed.home[light], minlength=n_nodes)
    first = np.append(0, np.cumsum(counts + 1))
    gives, costs = (_from_none(amount[light], fixed.home[light], first) for amount in (fixed.load, price))
    per_load = price[light] / fixed.load[light] if light.size else np.ones(1)
    groups = np.flatnonzero(heavy)
    fluid = Fluid(
        groups=groups,
        at=fixed.home[groups],
        price=price[groups],
        loads=engine.state.loads.copy(),
        first=first,
        gives=gives,
        costs=costs,
        dearest=DEAREST * per_load.max(keepdims=True),
        usual=np.median(per_load, keepdims=True),
        held=engine.state.held.copy(),
        totals=np.zeros(3),
    )
    count_all(engine.state, fluid)
    return fluid


def _from_none(amount: FloatArray, home: IntArray, first: IntArray) -> FloatArray:
    """Sums of the amounts of each node's groups, a 0 before the first one of each."""
    sums = np.zeros(first[-1])
    sums[np.arange(amount.size) + home + 1] = np.cumsum(amount)
    starts = np.append(0.0, np.cumsum(amount))[first[:-1] - np.arange(first.size - 1)]
    sums -= np.repeat(starts, np.diff(first))
    return np.maximum(sums, 0.0)


def _cool(engine: Engine, limits: Limits, fluid: Fluid) -> None:
    """One cooling of the heavy groups, in as many steps as there is time for."""
    mean = float(fluid.price.mean()) if fluid.price.size else 0.0
    steps, done = int(min(STEPS_PER_GROUP * fluid.groups.size, engine.steps_in(limits, limits.left_s()))), 0
    while done < steps and not limits.over():
        until = min(done + CHUNK, steps)
        anneal_heavy(engine.fixed, engine.state, fluid, (HOT * mean, COLD * mean), (done, until, steps))
        limits.steps_left -= until - done
        done = until
