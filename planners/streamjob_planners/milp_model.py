"""The paper's integer program (section 4.3.1) for CP-SAT, in full form.

    min  w1 d - w2 (du + dl)                                            with w1 >> w2
    (1)  every group on exactly one node
    (2)  the moves keep the budget: seconds, number and bytes, each a constraint of its own
    (3)  load_i <= capacity_i (mean + d - du)        on every node, marked ones included
    (4)  load_i >= capacity_i (mean - d + dl)        on unmarked nodes
    (5)  d <= mean                                   where the hint shows that it can be kept; otherwise d of the hint

With u = d - du and l = d - dl the objective is ``(w1 - 2 w2) d + w2 (u + l)``. The tolerance makes d, u and l worth
nothing below it, and every move has a price, so that a plan does not polish. Further resources, pins and forbidden
nodes are constraints or missing variables. CP-SAT counts in integers: one unit is 1e-6 points.
"""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from streamjob_planners.drain import drain_weights, stretch
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

UNITS = 1_000_000
"""Integer units per percent point."""
CAPACITY_UNITS = 1_000
"""Integer units per capacity weight: weights are rounded to a thousandth."""
FINE_UNITS = 10**12
"""Integer units per budget, and per total use of a further resource."""
W1, W2 = 100_000, 1
MOVE_WEIGHT = 0.001
"""Percent points of u + l that a move must win even at price 0: ties are not worth a move."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A CP-SAT model and its variables; `moves[k]` lists (node, variable), a group without a true one stays."""

    problem: Problem
    model: Any
    moves: dict[int, list[tuple[int, Any]]]
    d: Any

    def placement(self, value: Any) -> IntArray:
        """The placement of a solution; `value` gives the value of a variable."""
        node_of = self.problem.model.node_of.copy()
        for group, choices in self.moves.items():
            for node, chosen in choices:
                if value(chosen):
                    node_of[group] = node
        return node_of


def pairs(problem: Problem) -> int:
    """Number of binary variables the full form needs."""
    return int(problem.movable.sum()) * int(problem.open_nodes.sum())


def build(problem: Problem, hint: IntArray) -> Program:
    """The program with `hint` (n_groups,) as the first solution to look at."""
    model = cp_model.CpModel()
    moves = {int(k): _choices(problem, model, int(k)) for k in np.flatnonzero(problem.movable)}
    top = int(np.ceil(max(problem.mean, stretch(problem, hint)) * UNITS)) + 1
    d, up, down = (model.new_int_var(0, top, name) for name in ("d", "u", "l"))
    program = Program(problem=problem, model=model, moves=moves, d=d)
    model.add(up <= d)
    model.add(down <= d)
    _bands(program, up, down)
    _budget(program)
    _limits(program)
    for group, choices in moves.items():
        for node, chosen in choices:
            model.add_hint(chosen, bool(hint[group] == node))
    model.minimize(_objective(program, (d, up, down), top))
    return program


def then_drain(program: Program, limit: float) -> None:
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
    model.maximize(W1 * cp_model.LinearExpr.sum(drained) - program.d)


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


def _choices(problem: Problem, model: Any, group: int) -> list[tuple[int, Any]]:
    allowed = problem.may_go(group).copy()
    allowed[problem.model.node_of[group]] = False
    choices = [(int(node), model.new_bool_var("")) for node in np.flatnonzero(allowed)]
    model.add_at_most_one([chosen for _, chosen in choices])
    return choices


def _move_price(problem: Problem) -> int:
    return int(np.rint((W1 * problem.params.price_per_move + W2 * MOVE_WEIGHT) * UNITS))


def _objective(program: Program, deviations: tuple[Any, Any, Any], top: int) -> Any:
    least = int(np.rint(program.problem.params.tolerance * UNITS))
    worth = []
    for deviation in deviations:
        above = program.model.new_int_var(least, max(top, least), "")
        program.model.add(above >= deviation)
        worth.append(above)
    made = [chosen for choices in program.moves.values() for _, chosen in choices]
    price = _move_price(program.problem)
    return W1 * worth[0] + W2 * (worth[1] + worth[2]) + price * cp_model.LinearExpr.sum(made)


def _flows(program: Program, amount: IntArray) -> list[tuple[list[Any], list[int]]]:
    """Per node the variables that change what it holds, and by how much."""
    model = program.problem.model
    flows: list[tuple[list[Any], list[int]]] = [([], []) for _ in range(model.n_nodes)]
    for group, choices in program.moves.items():
        home = int(model.node_of[group])
        for node, chosen in choices:
            flows[node][0].append(chosen)
            flows[node][1].append(int(amount[group]))
            flows[home][0].append(chosen)
            flows[home][1].append(-int(amount[group]))
    return flows


def _bands(program: Program, up: Any, down: Any) -> None:
    model, mean = program.problem.model, program.problem.mean
    load = np.rint(model.load * UNITS).astype(np.int64)
    today = np.zeros(model.n_nodes, dtype=np.int64)
    np.add.at(today, model.node_of, load)
    for node, (chosen, change) in enumerate(_flows(program, load)):
        held = int(today[node]) + cp_model.LinearExpr.weighted_sum(chosen, change)
        weight = int(np.rint(model.capacity[node] * CAPACITY_UNITS))
        centre = int(np.rint(model.capacity[node] * mean * UNITS)) * CAPACITY_UNITS
        program.model.add(CAPACITY_UNITS * held <= centre + weight * up)
        if not model.marked[node]:
            program.model.add(CAPACITY_UNITS * held >= centre - weight * down)


def _budget(program: Program) -> None:
    problem = program.problem
    for column, allowance in enumerate(problem.allowances):
        if not np.isfinite(allowance):
            continue
        price, most = _in_units(problem.prices[:, column], float(allowance))
        terms = [(chosen, int(price[group])) for group, choices in program.moves.items() for _, chosen in choices]
        spent = cp_model.LinearExpr.weighted_sum([chosen for chosen, _ in terms], [weight for _, weight in terms])
        program.model.add(spent <= most)


def _limits(program: Program) -> None:
    problem = program.problem
    for use, limits in zip(problem.uses, problem.limits, strict=True):
        amount, _ = _in_units(use, float(use.sum()))
        today = np.zeros(problem.model.n_nodes, dtype=np.int64)
        np.add.at(today, problem.model.node_of, amount)
        for node, (chosen, change) in enumerate(_flows(program, amount)):
            if problem.open_nodes[node]:
                room = np.ceil(limits[node] / max(float(use.sum()), 1e-300) * FINE_UNITS)
                most = max(min(int(room), 2 * FINE_UNITS) - int(today[node]), 0)
                program.model.add(cp_model.LinearExpr.weighted_sum(chosen, change) <= most)


def _in_units(amount: FloatArray, total: float) -> tuple[IntArray, int]:
    """Amounts as integers, and what the total is then.

    Rounded down, so that the program relaxes what it stands for by less than floats do, and its bound stays a bound.
    """
    if total <= 0:
        return (amount > 0).astype(np.int64), 0
    return np.minimum(np.floor(amount / total * FINE_UNITS), 2.0 * FINE_UNITS).astype(np.int64), FINE_UNITS
