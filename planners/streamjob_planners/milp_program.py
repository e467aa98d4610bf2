"""What the integer programs of plans share: who may go where, the budget, and further resources."""

from __future__ import annotations

import dataclasses
from typing import Any

import numpy as np
from ortools.sat.python import cp_model

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

FINE_UNITS = 10**12
"""Integer units per budget, and per total use of a further resource."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Program:
    """A CP-SAT model and its variables; `moves[k]` lists (node, variable), a group without a true one stays."""

    problem: Problem
    model: Any
    moves: dict[int, list[tuple[int, Any]]]

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


def all_choices(problem: Problem, model: Any) -> dict[int, list[tuple[int, Any]]]:
    """The variables of every movable group: the nodes that it may go to, at most one of them."""
    return {int(k): _choices(problem, model, int(k)) for k in np.flatnonzero(problem.movable)}


def add_hint(program: Program, hint: IntArray) -> None:
    """Let the solver look at this placement, (n_groups,), first."""
    for group, choices in program.moves.items():
        for node, chosen in choices:
            program.model.add_hint(chosen, bool(hint[group] == node))


def flows(program: Program, amount: IntArray) -> list[tuple[list[Any], list[int]]]:
    """Per node the variables that change what it holds, and by how much; `amount` of each group, (n_groups,)."""
    model = program.problem.model
    changes: list[tuple[list[Any], list[int]]] = [([], []) for _ in range(model.n_nodes)]
    for group, choices in program.moves.items():
        home = int(model.node_of[group])
        for node, chosen in choices:
            changes[node][0].append(chosen)
            changes[node][1].append(int(amount[group]))
            changes[home][0].append(chosen)
            changes[home][1].append(-int(amount[group]))
    return changes


def add_budget(program: Program) -> None:
    """The moves keep every limit of the budget."""
    problem = program.problem
    for column, allowance in enumerate(problem.allowances):
        if not np.isfinite(allowance):
            continue
        price, most = _in_units(problem.prices[:, column], float(allowance))
        terms = [(chosen, int(price[group])) for group, choices in program.moves.items() for _, chosen in choices]
        spent = cp_model.LinearExpr.weighted_sum([chosen for chosen, _ in terms], [weight for _, weight in terms])
        program.model.add(spent <= most)


def add_limits(program: Program) -> None:
    """No open node gets more of a further resource than it may hold."""
    problem = program.problem
    for use, limits in zip(problem.uses, problem.limits, strict=True):
        amount, _ = _in_units(use, float(use.sum()))
        today = np.zeros(problem.model.n_nodes, dtype=np.int64)
        np.add.at(today, problem.model.node_of, amount)
        for node, (chosen, change) in enumerate(flows(program, amount)):
            if problem.open_nodes[node]:
                room = np.ceil(limits[node] / max(float(use.sum()), 1e-300) * FINE_UNITS)
                most = max(min(int(room), 2 * FINE_UNITS) - int(today[node]), 0)
                program.model.add(cp_model.LinearExpr.weighted_sum(chosen, change) <= most)


def _choices(problem: Problem, model: Any, group: int) -> list[tuple[int, Any]]:
    allowed = problem.open_nodes.copy()
    allowed[problem.model.node_of[group]] = False
    choices = [(int(node), model.new_bool_var("")) for node in np.flatnonzero(allowed)]
    model.add_at_most_one([chosen for _, chosen in choices])
    return choices


def _in_units(amount: FloatArray, total: float) -> tuple[IntArray, int]:
    """Amounts as integers, and what the total is then.

    Rounded down, so that the program relaxes what it stands for by less than floats do, and its bound stays a bound.
    """
    if total <= 0:
        return (amount > 0).astype(np.int64), 0
    return np.minimum(np.floor(amount / total * FINE_UNITS), 2.0 * FINE_UNITS).astype(np.int64), FINE_UNITS
