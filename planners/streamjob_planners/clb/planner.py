"""CLB as a planner: the published partition as a target, walked within the budget, then whatever else helps.

As published CLB makes every partition from scratch, counts on the moves being spread over many windows, and looks at
covariances alone (its claim that they stand for the imbalance holds for sets of equal means only). Here the sets get
the nodes that hold most of them already, a step is made only where it lowers the imbalance over the windows, which
counts means and swings, and single moves and swaps go on from there.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.optimize import linear_sum_assignment

from streamjob_planners import bound, drain, plans
from streamjob_planners.acceptance import no_worse
from streamjob_planners.clb.split import split_by_covariance
from streamjob_planners.clb.walk import Walk
from streamjob_planners.model import BoolArray, Clock, FloatArray, IntArray, LoadModel, Plan, PlanParams
from streamjob_planners.problem import Problem, compile_problem

MOST_GROUPS = 4000
"""All pairs of key groups are looked at: more than this take too much memory."""
MOST_TO_SWAP = 1000
"""Beyond this many key groups, single moves only."""
MIN_GAIN_RATIO = 0.01
"""A step lowers today's imbalance by this part of it, or is not worth its move."""
WORK_SHARE = 0.8
"""Part of the deadline for the walk; the rest is for the bound."""


class ClbPlanner:
    """Key groups that swing together part, those that swing against each other share a node."""

    name = "clb"

    def __init__(self, *, theta: float = 0.0) -> None:
        """`theta`: correlation from which two are parted, 0 to 1 (not 1 itself)."""
        if not 0 <= theta < 1:
            raise ValueError(f"theta: {theta} given, 0 or more and less than 1 is needed")
        self._theta = theta

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        """Deterministic: chance is not used. Without load_series only marked nodes are drained, and a note says so."""
        start = clock()
        problem = compile_problem(model, params)
        node_of, notes = model.node_of, _unfit(model)
        if not notes and model.load_series is not None:
            stop = _at(clock, start + WORK_SHARE * params.deadline_s)
            node_of = settled(problem, model.load_series, self._theta, stop)
        node_of = drain.ensure_progress(problem, node_of)
        lower = bound.bound_in_time(model, params, lambda: start + params.deadline_s - clock())
        batch_lower = plans.batch_bound_in_time(model, params, lambda: start + params.deadline_s - clock())
        return plans.make_plan(
            model,
            node_of,
            planner=self.name,
            elapsed_s=clock() - start,
            lower_bound=lower,
            notes=notes,
            batch_bound_s=batch_lower,
        )


def _at(clock: Clock, until_s: float) -> Callable[[], bool]:
    return lambda: clock() >= until_s


def _unfit(model: LoadModel) -> tuple[str, ...]:
    """Why there is nothing to work on; empty where there is."""
    series = model.load_series
    if series is None or series.shape[0] < 2:
        return ("No series of loads was kept, two windows or more are needed: nothing is balanced.",)
    if model.n_groups > MOST_GROUPS:
        return (f"{model.n_groups} key groups are too many for all their pairs, {MOST_GROUPS} at most: not balanced.",)
    return ()


def settled(problem: Problem, series: FloatArray, theta: float, stop: Callable[[], bool]) -> IntArray:
    """The last placement of the walk that is no worse by the objective, (n_groups,)."""
    walk = Walk(problem, series)
    target = _target(problem, series, theta)
    towards = np.arange(problem.model.n_nodes) == target[:, None]
    least = MIN_GAIN_RATIO * walk.imbalance()
    anywhere = np.broadcast_to(problem.movable[:, None], towards.shape)
    model, kept = problem.model, problem.model.node_of
    while not stop() and least > 0 and _step(walk, towards & anywhere, anywhere, least):
        if no_worse(model, walk.books.node_of, problem.params, collocates=False, saves=False):
            kept = walk.books.node_of.copy()
    return kept


def _step(walk: Walk, towards: BoolArray, anywhere: BoolArray, least: float) -> bool:
    if walk.move(towards, least) or walk.move(anywhere, least):
        return True
    return walk.books.node_of.size <= MOST_TO_SWAP and walk.swap(least)


def _target(problem: Problem, series: FloatArray, theta: float) -> IntArray:
    """The published partition over the unmarked nodes, each set on the node that holds most of its state."""
    model = problem.model
    nodes = np.flatnonzero(problem.open_nodes)
    set_of = split_by_covariance(series, nodes.size, theta)
    return nodes[relabelled(set_of, model.node_of, nodes, model.state_bytes + 1.0)][set_of]


def relabelled(set_of: IntArray, node_of: IntArray, nodes: IntArray, state: FloatArray) -> IntArray:
    """Place in `nodes` of each set, one set a node, so that most state stays; `state` and others (n_groups,)."""
    kept = np.zeros((nodes.size, nodes.size))
    for place, node in enumerate(nodes):
        here = node_of == node
        kept[:, place] = np.bincount(set_of[here], state[here], nodes.size)
    places: IntArray = np.asarray(linear_sum_assignment(kept, maximize=True)[1], dtype=np.int64)
    return places
