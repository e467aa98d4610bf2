"""First plans of the search: levelled where the budget is loose, else two that cover and fit, each made better."""

from __future__ import annotations

import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from streamjob_planners.covering import covered
from streamjob_planners.engine import Engine, Limits
from streamjob_planners.goals import Distance
from streamjob_planners.model import IntArray
from streamjob_planners.side_by_side import Found, side_by_side
from streamjob_planners.tightening import tightened

COVER_SHARE = 0.5
"""Part of the time of a first plan for covering and fitting; closer and closer bands have the rest."""
PARTS = (1.0, 0.5)
"""Parts of the budget that first plans spend: with all of it large models are nearly done, with half of it closer bands
have something left to spend where a few heavy groups decide."""

MOST_STARTS = 4
"""First plans of each thread; a further one is made as long as the best is not good enough."""
NEAR = 0.1
"""Part of what a group brings to a node that is good enough."""
LEAST_PART, NOISE = 0.3, 0.3
"""Of further ones: least part of the budget, and the standard deviation of the logarithm of prices."""


def tight_plan(engine: Engine, limits: Limits, share: float, levelled: IntArray) -> IntArray:
    """The best of two first plans, made side by side, (n_groups,), and of a plain one; `levelled` if none is better.

    The plain one is made by this thread, which would only wait: where both others lose their cores until time is over,
    there is something better than `levelled` all the same. `share`: part of what is left that they may take.
    """
    aim = Distance(engine.problem)
    works = [functools.partial(_made, levelled, part, share) for part in PARTS]
    threads = ThreadPoolExecutor(max_workers=len(PARTS))
    plain = functools.partial(covered, engine, limits.share(share * COVER_SHARE), levelled, PARTS[0], 0.0)
    found, covering = side_by_side(threads, engine, limits, (works[0], works[1]), plain)
    threads.shutdown(wait=False)
    return min([*found, (aim.reached(covering), covering)], key=lambda one: one[0])[1]


def _made(levelled: IntArray, part: float, share: float, engine: Engine, limits: Limits) -> Found:
    """The best of a few, of which all but the first are drawn by chance; every other one begins as levelled.

    That one has spent hardly anything, so closer bands decide what is moved.
    """
    with limits.lent(share) as own:
        return _best_of_few(levelled, part, engine, own)


def _best_of_few(levelled: IntArray, part: float, engine: Engine, limits: Limits) -> Found:
    """The same within all of the limits."""
    problem, aim = engine.problem, Distance(engine.problem)
    best: Found = (np.inf, levelled)
    for number in range(MOST_STARTS):
        if limits.over() or best[0] <= max(problem.params.tolerance, NEAR * engine.grain):
            break
        noise = NOISE if number > 0 else 0.0
        part = float(engine.rng.uniform(LEAST_PART, 1.0)) if number > 0 else part
        sparing = number % 2 == 1
        first = levelled if sparing else covered(engine, limits.share(COVER_SHARE), levelled, part, noise)
        found = tightened(engine, limits, aim, first)
        best = min(best, (aim.reached(found), found), key=lambda one: one[0])
    return best
