"""What every CP-SAT program of this package shares: whole numbers, and a solver that always answers the same."""

from __future__ import annotations

from collections.abc import Sequence

from ortools.sat.python import cp_model

_LARGEST = 10**9
"""CP-SAT wants whole numbers; sums of some thousand of these stay far inside 64 bits."""


def whole_numbers(values: Sequence[float]) -> tuple[list[int], float]:
    """Values times a scale, rounded, and the scale: the largest becomes 10**9."""
    largest = max((abs(value) for value in values), default=0.0)
    scale = _LARGEST / largest if largest > 0.0 else 1.0
    return [round(value * scale) for value in values], scale


def solved(model: cp_model.CpModel, effort: float, seed: int) -> cp_model.CpSolver | None:
    """A solver that has an answer: deterministic, for one core. None when the effort was too small for any."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    solver.parameters.random_seed = seed
    solver.parameters.max_deterministic_time = effort
    # Presolve of OR-tools 9.15 cuts off optimal plans where one constraint includes another, and proves a false bound.
    solver.parameters.presolve_inclusion_work_limit = 0
    return solver if solver.solve(model) in (cp_model.OPTIMAL, cp_model.FEASIBLE) else None
