"""A lower bound on a batch and the price of the moves to it, together: what a search for both goes below nowhere.

Each level takes its least sum of a time and of what has to leave for that time (`departures`), whatever the budget. The
price is that of pauses; a move to a node that has nothing today has none, so with such nodes this is no bound.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.departures import Leavers, least_prices, leavers, times_between
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.problem import Problem

SECONDS = 0
"""Column of `Problem.prices`."""
SLACK = 1e-9
"""Relative room for rounding: sums of floats are not exact."""


def least_together(problem: Problem, shape: BatchShape, floors: FloatArray, toll: float) -> float:
    """Seconds that all levels and the price of the moves take at least, together.

    `floors`: below which no level comes, (n_levels,); `toll`: what a second of pause must gain, seconds of a batch.
    """
    price = toll * problem.prices[:, SECONDS]
    least = (
        _least_s(leavers(problem, shape, level), shape, price, float(floors[level])) for level in range(shape.n_levels)
    )
    return sum(least) * (1 - SLACK)


def prices_of(problem: Problem, shape: BatchShape, levels_s: FloatArray, toll: float) -> float:
    """What moves cost at least with which no level ends later, (n_levels,), seconds of a batch."""
    price, times = toll * problem.prices[:, SECONDS], levels_s * (1 + SLACK)
    of_levels = (leavers(problem, shape, level) for level in range(shape.n_levels))
    costs = (least_prices(one, shape, price, times[[at]]) for at, one in enumerate(of_levels))
    return float(sum(one[0] for one in costs)) * (1 - SLACK)


def _least_s(found: Leavers, shape: BatchShape, price: FloatArray, floor: float) -> float:
    """The least of a time and its price. Between two times a level takes the first at least, and costs what the second
    does; where that may be least it is looked at once more, by closer times."""
    times = times_between(found, floor)
    _, near = _between(found, shape, price, times)
    closer = np.linspace(times[near[0]], times[min(near[-1] + 1, times.size - 1)], times.size)
    return float(_between(found, shape, price, closer)[0].min())


def _between(found: Leavers, shape: BatchShape, price: FloatArray, times: FloatArray) -> tuple[FloatArray, IntArray]:
    """The least from each time to the next one, and from the last one on; and those that may be least, indices."""
    needed = least_prices(found, shape, price, times)
    low = times + np.append(needed[1:], needed[-1])
    return low, np.flatnonzero(low <= float((times + needed).min()))
