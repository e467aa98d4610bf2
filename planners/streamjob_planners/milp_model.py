"""The paper's integer program (section 4.3.1) for CP-SAT, in full form.

    min  w1 d - w2 (du + dl)                                            with w1 >> w2
    (1)  every group on exactly one node
    (2)  the moves keep the budget: seconds, number and bytes, each a constraint of its own
    (3)  load_i <= capacity_i (mean + d - du)        on every node, marked ones included
    (4)  load_i >= capacity_i (mean - d + dl)        on unmarked nodes
    (5)  d <= mean                                   where the hint shows that it can be kept; otherwise d of the hint

With u = d - du and l = d - dl the objective is ``(w1 - 2 w2) d + w2 (u + l)``. `MilpSettings` has what else may hold
as printed: (5) always, and a mean that is rounded up, from which u is negative where all nodes are below it. The
tolerance makes d, u and l worth nothing below it, and every move has a price, so that a plan does not polish. Further
resources are constraints, pinned key groups have no variables. CP-SAT counts in integers: one unit is 1e-6 points.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from streamjob_planners.drain import drain_weights, stretch
from streamjob_planners.milp_program import Program, add_budget, add_hint, add_limits, all_choices, flows
from streamjob_planners.milp_settings import OURS, MilpSettings
from streamjob_planners.model import IntArray
from streamjob_planners.problem import Problem

UNITS = 1_000_000
"""Integer units per percent point."""
CAPACITY_UNITS = 1_000
"""Integer units per capacity weight: weights are rounded to a thousandth."""
W1, W2 = 100_000, 1
MOVE_WEIGHT = 0.001
"""Percent points of u + l that a move must win even at price 0: ties are not worth a move."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class DistanceProgram(Program):
    """With the load distance as a variable, and what of it counts: the tolerance, where that is more."""

    d: Any
    worth: Any


def build(problem: Problem, hint: IntArray, settings: MilpSettings = OURS) -> DistanceProgram:
    """The program with `hint` (n_groups,) as the first solution to look at; `problem.mean` is that of `settings`."""
    model = cp_model.CpModel()
    moves = all_choices(problem, model)
    farthest = problem.mean if settings.within_mean else max(problem.mean, stretch(problem, hint))
    top = _in_reach(problem, farthest)
    least = -top if settings.ceiled_mean else 0
    d, up, down = (model.new_int_var(least, top, name) for name in ("d", "u", "l"))
    worth = [_worth(problem, model, one, least, top) for one in (d, up, down)]
    program = DistanceProgram(problem=problem, model=model, moves=moves, d=d, worth=worth[0])
    model.add(up <= d)
    model.add(down <= d)
    _bands(program, up, down)
    add_budget(program)
    add_limits(program)
    add_hint(program, hint)
    model.minimize(W1 * worth[0] + W2 * (worth[1] + worth[2]) + _move_price(problem) * _made(program))
    return program


def most_d(problem: Problem) -> float:
    """The d that constraint (5) allows, in percent points, with what the program's integers may be off."""
    return problem.mean + (problem.model.n_groups + 2) / UNITS / float(problem.model.capacity.min())


def then_drain(program: DistanceProgram, limit: float) -> None:
    """Second goal of the lexicographic order: the most load off marked nodes with d within `limit` points."""
    problem, model = program.problem, program.model
    model.add(program.d <= int(np.ceil(limit * UNITS)) + 1)
    weights = np.rint(drain_weights(problem) * UNITS).astype(np.int64)
    drained = [
        int(weights[group]) * chosen
        for group, choices in program.moves.items()
        if problem.model.marked[problem.model.node_of[group]]
        for _, chosen in choices
    ]
    price = max(1, _move_price(problem) // W1)
    model.maximize(W1 * cp_model.LinearExpr.sum(drained) - program.worth - price * _made(program))


def bound_on_d(problem: Problem, objective_bound: float) -> float:
    """Lower bound on the load distance from a bound on the objective, percent points; 0.0 if it says nothing.

    Any plan's objective is at most ``(w1 + 2 w2) max(d, tolerance) + price of all moves``; loads are rounded by half
    a unit each, capacity weights to thousandths.
    """
    most = min(problem.allowances[1], float(problem.movable.sum()))
    rest = objective_bound - most * _move_price(problem)
    capacity = problem.model.capacity
    rounding = (problem.model.n_groups + 2) / UNITS / float(capacity.min())
    blurred = float(np.abs(np.rint(capacity * CAPACITY_UNITS) / CAPACITY_UNITS / capacity - 1).max())
    bound = rest / (W1 + 2 * W2) / UNITS * (1 - blurred) - rounding
    return bound if bound > problem.params.tolerance else 0.0


def _in_reach(problem: Problem, d: float) -> int:
    """Units that a load distance of `d` points may be in the program, whose loads and capacities are rounded."""
    capacity = problem.model.capacity
    weight = np.maximum(np.rint(capacity * CAPACITY_UNITS), 1.0) / CAPACITY_UNITS
    blurred = max(float((capacity / weight).max()), 1.0)
    rounding = (problem.model.n_groups + 2) / float(weight.min())
    return int(np.ceil(d * blurred * UNITS + rounding))


def _move_price(problem: Problem) -> int:
    return int(np.rint((W1 * problem.params.price_per_move + W2 * MOVE_WEIGHT) * UNITS))


def _made(program: Program) -> Any:
    """Number of moves."""
    return cp_model.LinearExpr.sum([chosen for choices in program.moves.values() for _, chosen in choices])


def _worth(problem: Problem, model: Any, deviation: Any, least: int, top: int) -> Any:
    tolerance = int(np.rint(problem.params.tolerance * UNITS))
    least = tolerance if tolerance else least
    worth = model.new_int_var(least, max(top, least), "")
    model.add(worth >= deviation)
    return worth


def _bands(program: Program, up: Any, down: Any) -> None:
    model, mean = program.problem.model, program.problem.mean
    load = np.rint(model.load * UNITS).astype(np.int64)
    today = np.zeros(model.n_nodes, dtype=np.int64)
    np.add.at(today, model.node_of, load)
    for node, (chosen, change) in enumerate(flows(program, load)):
        held = int(today[node]) + cp_model.LinearExpr.weighted_sum(chosen, change)
        weight = int(np.rint(model.capacity[node] * CAPACITY_UNITS))
        centre = int(np.rint(model.capacity[node] * mean * UNITS)) * CAPACITY_UNITS
        program.model.add(CAPACITY_UNITS * held <= centre + weight * up)
        if not model.marked[node]:
            program.model.add(CAPACITY_UNITS * held >= centre - weight * down)
