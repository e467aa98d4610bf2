"""Planners on the 72 instances of the ALBIC paper's section 5.1, and on the scale-in of figure 5: a table in minutes.

    python -m benchmarks.planners_quick --planner search --deadline 0.1 --deadline 1

Gaps are to the proven lower bound, in percent points where the mean node load is 50. Every plan is judged by `verify`.
"""

from __future__ import annotations

import argparse
import dataclasses

import numpy as np

from benchmarks.planners_instances import instances, solve
from benchmarks.worlds import scale_in_world
from streamjob_planners import bound, registry
from streamjob_planners.model import Budget, PlanParams


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
