"""The least communication that any plan of components can have: a bound beside every algorithm's answer.

A component shares an attribute, and operators that share one and are linked can be one component. So without a cost of
adaptation a plan is a choice of one attribute for each operator, and what streams between equal choices carry is saved:
a small program for CP-SAT.
"""

from __future__ import annotations

from collections import defaultdict

from ortools.sat.python import cp_model

from streamjob_planners.components.graph import Members, OperatorGraph
from streamjob_planners.components.program import solved, whole_numbers


def least_communication(graph: OperatorGraph, effort: float, seed: int = 0) -> tuple[list[Members], float]:
    """Components, and a proven lower bound on the communication of any plan, in the streams' unit.

    `effort` is CP-SAT's deterministic time, about seconds.
    """
    model = cp_model.CpModel()
    chosen = [{name: model.new_bool_var(f"{o}{name}") for name in sorted(key)} for o, key in enumerate(graph.keys)]
    for row in chosen:
        model.add_exactly_one(row.values())
    pairs = [
        (one, other, load) for one, row in enumerate(graph.neighbours) for other, load in row.items() if one < other
    ]
    scaled, scale = whole_numbers([load for _, _, load in pairs])
    saved = []
    for (one, other, _), load in zip(pairs, scaled, strict=True):
        for name in sorted(graph.keys[one] & graph.keys[other]):
            both = model.new_bool_var("")
            model.add_implication(both, chosen[one][name])
            model.add_implication(both, chosen[other][name])
            saved.append(load * both)
    model.maximize(sum(saved))
    solver = solved(model, effort, seed)
    if solver is None:
        return [frozenset({one}) for one in range(graph.n_operators)], 0.0
    classes: dict[str, list[int]] = defaultdict(list)
    for operator, row in enumerate(chosen):
        classes[next(name for name, variable in row.items() if solver.boolean_value(variable))].append(operator)
    plan = [part for _, members in sorted(classes.items()) for part in graph.parts(members)]
    rounding = len(pairs) / scale
    return plan, max(0.0, graph.total - solver.best_objective_bound / scale - rounding)
