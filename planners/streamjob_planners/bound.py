"""A lower bound on the load distance that can be proved: no plan within the budget is below it.

If a necessary condition fails at a distance d, the optimum is above d; the bound is the largest d refuted by bisection.
The conditions only relax the problem (further resources are left out), so the bound holds for it:

- a group that is heavier alone (``measures.skew_floor``);
- per number of moves (``proof.counts``): what must leave, arrive, be given, be shipped from marked nodes;
- per price (``proof.covers``): covering every node's excess, and what all nodes lack together;
- granularity (``proof.grain``): loads are sums of whole groups.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

from streamjob_planners import measures
from streamjob_planners.model import LoadModel, PlanParams
from streamjob_planners.problem import Problem, compile_problem
from streamjob_planners.proof.counts import TooManyMoves
from streamjob_planners.proof.covers import TooDear
from streamjob_planners.proof.grain import TooGrainy, takes_s
from streamjob_planners.proof.setting import SLACK, Condition, Setting, setting_of

PRECISION = 1e-5
"""Percent points to which it is worked out, and a tenth of it as a part of the bound."""

TIME_SHARE = 0.9
"""Part of the time left that `bound_in_time` takes at most."""
S_PER_GROUP = 2e-6
"""Time that it needs before it can look whether its time is over."""


def lower_bound(model: LoadModel, params: PlanParams) -> float:
    """Percent points that no plan within `params.budget` goes below, 0 or more."""
    return bound_of(compile_problem(model, params))


def bound_in_time(model: LoadModel, params: PlanParams, left_s: Callable[[], float]) -> float:
    """What of `lower_bound` can be proven in nine tenths of the time left; only the skew floor where that is too short.

    `left_s`: seconds until the deadline, now.
    """
    until = (1 - TIME_SHARE) * left_s()
    late = left_s() < model.n_groups * S_PER_GROUP
    return bound_of(compile_problem(model, params), lambda: late or left_s() <= until, lambda: left_s() - until)


def bound_of(
    problem: Problem, stop: Callable[[], bool] = lambda: False, left_s: Callable[[], float] = lambda: math.inf
) -> float:
    """`lower_bound` of a compiled problem; once `stop` says so, the best bound so far.

    `left_s`: seconds until then, now: what could not be done by then is not begun.
    """
    model = problem.model
    today = measures.load_distance(model, model.node_of)
    floor = measures.skew_floor(model)
    low = min(today, 0.0 if floor is None else floor.load_distance)
    if low < today and not stop():
        setting = setting_of(problem)
        for condition in _conditions(setting, stop, left_s):
            low = _raised(setting, condition, (low, today), stop)
    return max(0.0, low * (1 - SLACK))


def _conditions(setting: Setting, stop: Callable[[], bool], left_s: Callable[[], float]) -> Iterator[Condition]:
    """The cheap ones first, each built when its turn comes."""
    if not stop():
        yield TooManyMoves(setting)
    if not stop():
        yield TooDear(setting, stop)
    if not stop() and takes_s(setting) <= left_s():
        yield TooGrainy(setting, stop)


def _raised(setting: Setting, condition: Condition, between: tuple[float, float], stop: Callable[[], bool]) -> float:
    """The largest distance that the condition refutes, or the lower end if it does not even refute that."""
    low, high = between
    step = max(PRECISION, 0.1 * PRECISION * low)
    if high - low <= step or not condition.refutes(setting.bands(low + step)):
        return low
    low += step
    while high - low > max(PRECISION, 0.1 * PRECISION * low) and not stop():
        middle = (low + high) / 2
        low, high = (middle, high) if condition.refutes(setting.bands(middle)) else (low, middle)
    return low
