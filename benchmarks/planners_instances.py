"""The 72 instances of the ALBIC paper's section 5.1, and judged answers to them."""

from __future__ import annotations

import time
from collections.abc import Iterator

import numpy as np

from benchmarks.worlds import solver_world
from streamjob_planners import registry, verify
from streamjob_planners.model import Budget, Clock, LoadModel, Plan, PlanParams

SIZES = ((20, 400, 10), (40, 800, 20), (60, 1200, 30))
VARIES = (20.0, 40.0, 50.0, 60.0, 80.0, 100.0)
MIGRATIONS = (10, 20, 30, 40)


def instances(seed: int) -> Iterator[tuple[str, LoadModel, Budget]]:
    """The 72 instances: name, model, budget."""
    for n_nodes, n_groups, n_operators in SIZES:
        for varies in VARIES:
            model = solver_world(n_nodes, n_groups, n_operators, varies, seed).model()
            for migrations in MIGRATIONS:
                yield f"{n_nodes}/{n_groups} v{varies:g} K{migrations}", model, Budget(max_migrations=migrations)


def solve(
    name: str, model: LoadModel, params: PlanParams, seed: int, clock: Clock = time.perf_counter
) -> tuple[Plan, float]:
    """A plan that the judge accepts, and the seconds of `clock` that it took from call to return."""
    planner = registry.get(name)
    start = clock()
    plan = planner.solve(model, params, np.random.default_rng(seed), clock)
    took_s = clock() - start
    violations = verify.verify(model, plan, params)
    if violations:
        raise RuntimeError(f"{name}: {violations[0].sentence}")
    return plan, took_s
