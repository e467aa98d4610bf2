"""Meta's Rebalancer (PyPI `rebalancer`), local search with single moves and swaps.

It has no plain min-max goal: two balance goals bound the load above and below the mean, and a small square one beside
them (same tuple position) or behind them (second position) guides the search. Neither dominates, so both are offered.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import numpy as np
from benchmarks.peers.instance import Incumbent, Instance
from rebalancer import ProblemSolver

SQUARES, MAX, RELATIVE = 2, 3, 2
"""The wheel takes its enums as numbers, against what its type stubs say."""
SQUARE_WEIGHT = 1e-3


def prepare(instance: Instance, incumbent: Incumbent, variant: str) -> Callable[[float], None]:
    """`variant` is "beside" or "behind"."""
    loads = {str(group): load for group, load in enumerate(instance.load.tolist())}
    placed: dict[str, list[str]] = {str(node): [] for node in range(instance.n_nodes)}
    for group, node in enumerate(instance.node_of.tolist()):
        placed[str(node)].append(str(group))
    solver = ProblemSolver("rebalancer", "peer")
    solver.set_object_name("group").set_container_name("node").set_assignment(placed)
    solver.add_object_dimension("load", loads)
    solver.add_object_dimension("lack", {group: -load for group, load in loads.items()})
    solver.add_object_dimension("moves", dict.fromkeys(loads, 1.0))
    budget = {"name": "budget", "scope": "node", "dimension": "moves", "doNotNormalize": True}
    solver.add_constraint({"minimizeMovementSpec": {**budget, "allowance": float(instance.max_moves)}})
    for dimension in ("load", "lack"):
        solver.add_goal(_balance(dimension, MAX), 1.0, 0)
    solver.add_goal(_balance("load", SQUARES), SQUARE_WEIGHT, 0 if variant == "beside" else 1)
    return functools.partial(_run, solver, instance, incumbent)


def _balance(dimension: str, formula: int) -> dict[str, object]:
    goal = {"scope": "node", "dimension": dimension, "upperBound": 0.0, "formula": formula, "boundType": RELATIVE}
    return {"balanceSpec": {"name": f"{dimension} {formula}", **goal}}


def _run(solver: ProblemSolver, instance: Instance, incumbent: Incumbent, deadline_s: float) -> None:
    """Its time limit is in whole seconds: it gets no less than was asked for."""
    moves = [{"singleMoveTypeSpec": {}}, {"swapMoveTypeSpec": {}}]
    limit = {"solveTime": max(1, math.ceil(deadline_s)), "moveTypeList": moves}
    solver.add_solver({"localSearchSolverSpec": limit})
    assignment = solver.solve()["assignment"]
    incumbent.offer(np.array([int(assignment[str(group)]) for group in range(instance.load.size)]))
