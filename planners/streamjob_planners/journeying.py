"""Journeying: a choice of how many heavy and light groups leave and arrive at each node, then which ones.

Where all moves cost the same and the budget is tight, counts decide: exchanges that keep them are cheap and plenty, but
no sequence of them leads from one choice to another. So the choice comes first, for a distance below the best so far,
and the groups are found within it by cooling, exchanges only.
"""

from __future__ import annotations

import math

import numpy as np

from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.journey_counts import JourneyCounts, off_at
from streamjob_planners.kernel.journeys import cool
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem
from streamjob_planners.two_kinds import heavy_ones

MOST_GROUPS, MOST_NODES = 2_000, 100
"""Sizes up to which counts are worked out: it takes about ten milliseconds."""
FEWEST_HEAVY = 1.5
"""Heavy groups for each node, at least: with one each, passes held to counts do better. At most half of all groups are
heavy."""
MOVES = 1
"""The allowance of which all moves take as much."""
NEAREST, FAR = 0.3, 0.15
"""Counts are chosen for a distance from this part of the best so far up to all of it, or of so many mean loads of a
group where the best is farther than that: farther off nothing is hard."""
WIDER = 1.5
"""Where there are no counts for a distance, the next one is so many times as large."""
HOT, COLD = 1.0, 0.25
"""First temperature: the square of so many mean loads of a group; last: of this part of the distance."""
STEPS, FEWEST_STEPS, CHUNK = 200_000, 50_000, 10_000
"""Steps of a cooling, those that there must be time for, and those between two looks at the clock."""
FASTER = 3.0
"""Steps of a cooling that take as long as one of the search."""
COUNTING_STEPS = 50_000
"""Steps of the search that take as long as choosing counts."""
SHARE, TRIES = 0.5, 4
"""Part of what is left that coolings take at most, and how many, each with another choice; the best one counts."""
MIXES = 100
"""Rounds of exchanging targets until no group is to arrive at its home."""


def counts_of(engine: Engine) -> JourneyCounts | None:
    """Counts for a problem whose groups are sorted; None where it is too large, or without two kinds of groups, or not
    for equal nodes and moves."""
    problem, fixed = engine.problem, engine.fixed
    model = problem.model
    moves = problem.allowances[MOVES]
    plain = problem.open_nodes.all() and problem.uses.shape[0] == 0 and float(np.ptp(model.capacity)) == 0.0
    small = model.n_groups <= MOST_GROUPS and model.n_nodes <= MOST_NODES and fixed.first[-1] > 0
    if not (plain and small and moves < model.n_groups):
        return None
    heavy = heavy_ones(np.asarray(model.load), math.ceil(FEWEST_HEAVY * model.n_nodes), model.n_groups // 2)
    return None if heavy is None else JourneyCounts(problem, fixed, heavy, int(moves))


def journeyed(engine: Engine, limits: Limits, aim: Distance, counts: JourneyCounts, reached: float) -> IntArray | None:
    """The best placement of a few choices for distances below `reached`, (n_groups,); None where there is none."""
    best: tuple[float, IntArray | None] = (np.inf, None)
    with limits.lent(SHARE) as part:
        for _ in range(TRIES):
            found = _placed(engine, part, counts, reached)
            if found is None:
                break
            best = min(best, (aim.reached(found), found), key=lambda one: one[0])
    return best[1]


def _placed(engine: Engine, limits: Limits, counts: JourneyCounts, reached: float) -> IntArray | None:
    """A placement with counts for a distance below that; None where there are none, or too little time is left."""
    chosen = _chosen(engine, limits, counts, reached)
    began = None if chosen is None else begun(engine.problem, counts, chosen[1], engine.rng)
    steps = int(min(STEPS, FASTER * engine.steps_in(limits, limits.left_s())))
    if chosen is None or began is None or steps < FEWEST_STEPS:
        return None
    at, going = began
    journeys = (counts.kind, at, going, off_at(engine.problem, at))
    heat = ((HOT * float(engine.problem.model.load.mean())) ** 2, (COLD * chosen[0]) ** 2)
    for first in range(0, steps, CHUNK):
        if limits.over():
            break
        cool(engine.fixed, engine.state, journeys, heat, (first, first + CHUNK, steps))
        limits.steps_left -= CHUNK / FASTER
    return at


def _chosen(
    engine: Engine, limits: Limits, counts: JourneyCounts, reached: float
) -> tuple[float, tuple[IntArray, IntArray]] | None:
    """A distance below that, and counts for it."""
    most = min(reached, FAR * float(engine.problem.model.load.mean()))
    distance = float(engine.rng.uniform(NEAREST, 1.0)) * most
    while distance <= reached and not limits.over():
        limits.steps_left -= COUNTING_STEPS
        drawn = counts.drawn(distance, engine.rng)
        if drawn is not None:
            return distance, drawn
        distance *= WIDER
    return None


def begun(
    problem: Problem, counts: JourneyCounts, drawn: tuple[IntArray, IntArray], rng: np.random.Generator
) -> tuple[IntArray, IntArray] | None:
    """Some placement with these counts, (n_groups,), and the groups that travel; None where none was found."""
    at, going = np.array(problem.model.node_of, dtype=np.int64), []
    home = np.asarray(problem.model.node_of)
    likely = counts.likely
    with np.errstate(divide="ignore"):
        luck = np.log(likely) + rng.gumbel(size=likely.size)
    for kind in (0, 1):
        groups = np.flatnonzero((counts.kind == kind) & (likely > 0.0))
        groups = groups[np.lexsort((-luck[groups], home[groups]))]
        rank = np.arange(groups.size) - np.searchsorted(home[groups], home[groups])
        groups = groups[rank < drawn[0][kind][home[groups]]]
        targets = mixed(home[groups], np.repeat(np.arange(problem.model.n_nodes), drawn[1][kind]), rng)
        if targets is None:
            return None
        at[groups] = targets
        going.append(groups)
    return at, np.concatenate(going)


def mixed(homes: IntArray, targets: IntArray, rng: np.random.Generator) -> IntArray | None:
    """The targets in an order by chance in which no group arrives at its home; None where none was found."""
    if homes.size != targets.size:
        return None
    order = rng.permutation(targets)
    for _ in range(MIXES):
        wrong = np.flatnonzero(order == homes)
        if wrong.size == 0:
            return order
        for one, other in zip(wrong.tolist(), rng.integers(order.size, size=wrong.size).tolist(), strict=True):
            order[one], order[other] = order[other], order[one]
    return None
