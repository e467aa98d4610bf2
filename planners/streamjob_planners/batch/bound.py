"""A lower bound on the time of a batch that can be proved: no placement within the budget is below it.

``fixed + free + sum over levels``, where levels share the budget. What a level takes at least falls with what is spent
on it: without a limit to its floor (`floor`), else to what the departures that can be paid allow (`departures`). The
least sum is found by dynamic programming over levels, on amounts rounded so that a sum of parts never exceeds the
whole. Several limits are looked at one by one; the largest bound counts.
"""

from __future__ import annotations

import functools

import numpy as np

from streamjob_planners.arrays import FloatArray
from streamjob_planners.batch.departures import Leavers, least_times_by_moves, least_times_by_price, leavers
from streamjob_planners.batch.floor import floor_s
from streamjob_planners.batch.predict import ends, rest_s
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import LoadModel, PlanParams
from streamjob_planners.problem import Problem, compile_problem

MOST_PROVEN = 2_000
"""Key groups up to which a search's bound takes the budget and whole tasks into account: some ten milliseconds."""
MOST_SHARES = 256
"""Parts into which a budget is cut at most; each level may get up to one part more than is there."""
SLACK = 1e-9
"""Relative room for rounding: sums of floats are not exact."""
SECONDS, BYTES = 0, 2
"""Columns of `Problem.prices`."""


def batch_bound(model: LoadModel, params: PlanParams) -> float:
    """Seconds that `Effect.batch_s` of no placement within `params.budget` goes below, 0 or more.

    Raises ValueError for a model without a `batch` and for parameters that no planner could obey.
    """
    if model.batch is None:
        raise ValueError("batch: None given, a bound on batch time needs what a batch takes")
    return bound_of(compile_problem(model, params), model.batch)


def search_bound(problem: Problem, shape: BatchShape, floors: FloatArray) -> float:
    """What a search holds its batches against: `bound_of` where there is time for it, else the sum of the levels'
    `floors`, (n_levels,), that are known at once."""
    simple_s = rest_s(shape) + float(floors.sum())
    return simple_s if problem.model.n_groups > MOST_PROVEN else max(simple_s, bound_of(problem, shape))


def bound_of(problem: Problem, shape: BatchShape) -> float:
    """`batch_bound` of a compiled problem."""
    today = ends(shape, problem.model.node_of)
    if not problem.movable.any():
        return today.batch_s * (1 - SLACK)
    floors = np.array([floor_s(problem, shape, level) for level in range(shape.n_levels)])
    sums = [float(floors.sum())]
    if np.isfinite(problem.allowances).any():
        levels = [leavers(problem, shape, level) for level in range(shape.n_levels)]
        sums.append(_least_sum_by_moves(levels, floors, _most_moves(problem)))
        sums += [
            _least_sum_by_price(problem, shape, levels, floors, column)
            for column in (SECONDS, BYTES)
            if np.isfinite(problem.allowances[column])
        ]
    return (today.fixed_s + today.free_s + max(sums)) * (1 - SLACK)


def _most_moves(problem: Problem) -> int:
    """Moves that the budget pays for at most: as many as the cheapest ones that it pays for."""
    cheapest_first = np.sort(problem.prices[problem.movable], axis=0).cumsum(axis=0)
    return int((cheapest_first <= problem.allowances * (1 + SLACK)).sum(axis=0).min())


def _least_sum_by_moves(levels: list[Leavers], floors: FloatArray, most: int) -> float:
    """The least sum of the levels' times with so many moves, seconds.

    A level that is given n shares may make fewer moves than n + 1 shares have.
    """
    shares = min(most, MOST_SHARES)
    step = -(-(most + 1) // (shares + 1))
    moves = (np.arange(shares + 1) + 1) * step - 1
    return _least_sum([least_times_by_moves(one, float(low), moves) for one, low in zip(levels, floors, strict=True)])


def _least_sum_by_price(
    problem: Problem, shape: BatchShape, levels: list[Leavers], floors: FloatArray, column: int
) -> float:
    """The same under a limit on the seconds or bytes of all moves."""
    shares = np.arange(1.0, MOST_SHARES + 2.0, dtype=np.float64)
    spends: FloatArray = shares * (float(problem.allowances[column]) / MOST_SHARES)
    price = problem.prices[:, column]
    return _least_sum(
        [least_times_by_price(one, shape, price, float(low), spends) for one, low in zip(levels, floors, strict=True)]
    )


def _least_sum(times: list[FloatArray]) -> float:
    """One time of each level, (n_shares,) by what it is given: the least sum when all share the last amount."""
    return float(functools.reduce(_best_split, times)[-1])


def _best_split(one: FloatArray, other: FloatArray) -> FloatArray:
    """The least sum of two for each amount that they share, (n_shares,)."""
    never = np.full(one.size - 1, np.inf)
    rest = np.lib.stride_tricks.sliding_window_view(np.append(never, other), one.size)
    least: FloatArray = (rest + one[::-1]).min(axis=1)
    return least
