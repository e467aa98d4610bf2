"""Runs a CP-SAT program against a hard deadline, in a thread that is left behind should it not stop."""

from __future__ import annotations

import dataclasses
import threading
from typing import Any

from ortools.sat.python import cp_model

from streamjob_planners.milp_program import Program
from streamjob_planners.model import IntArray

WORKERS = 8
"""Search strategies that take turns or run side by side; fewer than 8 leave out the neighbourhood searches."""
UNITS_PER_ITERATION = 1e-4
"""Deterministic time that one iteration of `max_iterations` stands for."""
LEAPS = 10
"""Conflicts that a solver of one strategy may have while it halves what the objective can be, before small steps."""
GRACE = 0.1
"""Part of the time that is kept back for stopping the solver."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Solution:
    """The best placement found, and the solver's bound on the objective (None if it had to be left behind)."""

    node_of: IntArray
    objective_bound: float | None


class Infeasible(Exception):
    """No placement keeps all constraints of the program."""


class _Keeper(cp_model.CpSolverSolutionCallback):
    """Keeps the newest solution; every one that CP-SAT reports is better than the one before."""

    def __init__(self, program: Program) -> None:
        super().__init__()
        self._program = program
        self.best: IntArray | None = None

    def on_solution_callback(self) -> None:
        """Called by the solver, in its thread."""
        self.best = self._program.placement(self.boolean_value)


def run(program: Program, *, seed: int, seconds: float, max_iterations: int | None) -> Solution | None:
    """The best solution after at most `seconds`; None if none was found. Same seed and max_iterations: same answer.

    Raises Infeasible where it was proven that there is none.
    """
    if seconds <= 0:
        return None
    solver = cp_model.CpSolver()
    _set_limits(solver.parameters, seed, seconds * (1 - GRACE), max_iterations)
    keeper = _Keeper(program)
    failures: list[BaseException] = []
    # A model of its own: the caller goes on with the program, which a solver that was left behind would read meanwhile.
    thread = threading.Thread(target=_solve, args=(solver, program.model.clone(), keeper, failures), daemon=True)
    thread.start()
    thread.join(seconds * (1 - GRACE / 2))
    if thread.is_alive():
        solver.stop_search()
        thread.join(seconds * GRACE / 2)
    if failures:
        raise failures[0]
    if keeper.best is None:
        return None
    bound = None if thread.is_alive() else float(solver.best_objective_bound)
    return Solution(node_of=keeper.best, objective_bound=bound)


def _solve(solver: Any, model: Any, keeper: _Keeper, failures: list[BaseException]) -> None:
    try:
        status = solver.solve(model, keeper)
        if status == cp_model.MODEL_INVALID:
            raise RuntimeError(f"CP-SAT calls the program invalid: {model.validate()}")
        if status == cp_model.INFEASIBLE:
            raise Infeasible
    except Exception as error:  # noqa: BLE001 - carried to the thread that asked, which raises it
        failures.append(error)


def _set_limits(parameters: Any, seed: int, seconds: float, max_iterations: int | None) -> None:
    parameters.random_seed = seed
    parameters.max_time_in_seconds = seconds
    parameters.num_workers = WORKERS
    # Presolve of OR-tools 9.15 cuts off optimal plans where one constraint includes another, and proves a false bound.
    parameters.presolve_inclusion_work_limit = 0
    if max_iterations is not None:
        parameters.num_workers = 1
        parameters.max_deterministic_time = max_iterations * UNITS_PER_ITERATION
        # Alone it may find solution after solution, each one unit better, in hardly any deterministic time.
        parameters.binary_search_num_conflicts = LEAPS
