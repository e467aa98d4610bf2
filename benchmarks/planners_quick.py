"""Planners on the 72 instances of the ALBIC paper's section 5.1, and on the scale-in of figure 5: a table in minutes.

    python benchmarks/planners_quick.py --planner search --deadline 0.1 --deadline 1

Gaps are to the proven lower bound, in percent points where the mean node load is 50. Every plan is judged by `verify`.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Iterator

import numpy as np
from worlds import scale_in_world, solver_world

from streamjob_planners import bound, registry, verify
from streamjob_planners.model import Budget, LoadModel, Plan, PlanParams

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


def solve(name: str, model: LoadModel, params: PlanParams, seed: int) -> tuple[Plan, float]:
    """A judged plan, and the seconds that it took from call to return."""
    planner = registry.get(name)
    start = time.perf_counter()
    plan = planner.solve(model, params, np.random.default_rng(seed), time.perf_counter)
    took = time.perf_counter() - start
    violations = verify.verify(model, plan, params)
    if violations:
        raise SystemExit(f"{name}: {violations[0].sentence}")
    return plan, took


def section51(name: str, deadline_s: float, seed: int, *, each: bool) -> None:
    """One line per planner and deadline, or one per instance too."""
    gaps, times = [], []
    for label, model, budget in instances(seed):
        params = PlanParams(budget=budget, tolerance=0.0, deadline_s=deadline_s)
        lower = bound.lower_bound(model, params)
        plan, took = solve(name, model, params, seed)
        gaps.append(plan.after.load_distance - lower)
        times.append(took)
        if each:
            print(f"  {label:18} bound {lower:8.4f}  d {plan.after.load_distance:8.4f}  gap {gaps[-1]:7.4f}")
    print(
        f"{name:8} {deadline_s:5g} s: gap mean {np.mean(gaps):.4f}  median {np.median(gaps):.4f}  "
        f"max {np.max(gaps):.4f}; took {np.max(times):.3f} s at most"
    )


def figure5(name: str, overloaded: int, seed: int, deadline_s: float) -> None:
    """Rounds until ten marked of sixty nodes are empty, 20 moves a round."""
    model = scale_in_world(overloaded, seed).model()
    params = PlanParams(budget=Budget(max_migrations=20), tolerance=0.5, deadline_s=deadline_s)
    distances, rounds = [], 0
    while model.marked[model.node_of].any() and rounds < 40:
        plan, _ = solve(name, model, params, seed + rounds)
        model = dataclasses.replace(model, node_of=plan.node_of)
        distances.append(plan.after.load_distance)
        rounds += 1
    steps = " ".join(f"{distance:.2f}" for distance in distances)
    print(f"{name:8} figure 5, {overloaded} overloaded: empty after {rounds} rounds; load distance {steps}")


def main() -> None:
    """Parse the arguments and print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--planner", action="append", choices=registry.names(), help="default: search")
    parser.add_argument("--deadline", action="append", type=float, help="seconds; default: 0.1 and 1")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--each", action="store_true", help="a line for every instance")
    arguments = parser.parse_args()
    for name in arguments.planner or ["search"]:
        for deadline_s in arguments.deadline or [0.1, 1.0]:
            section51(name, deadline_s, arguments.seed, each=arguments.each)
        for overloaded in (1, 5):
            figure5(name, overloaded, arguments.seed, 0.5)


if __name__ == "__main__":
    main()
