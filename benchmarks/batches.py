"""Made-up batches, planned by `search` and judged apart from it: how long they take over what is proven.

    python -m benchmarks.batches                      # deadlines of 0.1 and 1 s, seed 1
    python -m benchmarks.batches --seed 7 --each      # other batches, a line for each
    python -m benchmarks.batches --publish            # and benchmarks/limits/batches.json

The exit code is 1 when a goal is missed. Moves are nearly free here: the length of the batch is all that counts.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import platform
import sys
import time
from pathlib import Path

import numpy as np

from benchmarks import batch_judge
from benchmarks.batch_instances import BATCHES, Batch, batches
from streamjob_planners import registry
from streamjob_planners.model import PlanParams

LIMITS = Path("benchmarks/limits/batches.json")
PAYBACK_BATCHES = 10_000.0
GOALS = {
    0.1: {"mean_ratio": 1.05, "slower": 0, "useless_moves": 0},
    1.0: {"mean_ratio": 1.03, "most_ratio": 1.15, "slower": 0, "useless_moves": 0},
}
"""What each deadline must reach: ratios to the bound, the geometric mean and the worst; batches that got slower; moves
that gain nothing."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """One plan: batch over bound before and after, moves, those of them that gain nothing, and seconds."""

    before: float
    after: float
    moves: int
    useless: int
    took_s: float


def judged(batch: Batch, deadline_s: float, seed: int) -> Judged:
    """One batch planned and judged."""
    model, shape = batch.model, batch.model.batch
    if shape is None:
        raise RuntimeError(f"{batch.name}: no batch")
    params = PlanParams(budget=batch.budget, payback_batches=PAYBACK_BATCHES, deadline_s=deadline_s)
    planner, began = registry.get("search"), time.perf_counter()
    plan = planner.solve(model, params, np.random.default_rng(seed), time.perf_counter)
    took_s, bound_s = time.perf_counter() - began, batch_judge.bound_s(shape)
    moves = int(np.count_nonzero(plan.node_of != model.node_of))
    if moves > (batch.budget.max_migrations or model.n_groups):
        raise RuntimeError(f"{batch.name}: {moves} moves")
    return Judged(
        before=batch_judge.batch_s(shape, model.node_of) / bound_s,
        after=batch_judge.batch_s(shape, plan.node_of) / bound_s,
        moves=moves,
        useless=batch_judge.useless_moves(shape, model.node_of, plan.node_of),
        took_s=took_s,
    )


def figures(found: list[Judged], deadline_s: float) -> dict[str, float]:
    """What goals are about, and what else is worth knowing."""
    return {
        "mean_ratio_before": float(np.exp(np.mean([np.log(one.before) for one in found]))),
        "mean_ratio": float(np.exp(np.mean([np.log(one.after) for one in found]))),
        "most_ratio": max(one.after for one in found),
        "slower": float(sum(one.after > one.before * (1 + 1e-9) for one in found)),
        "moves": float(sum(one.moves for one in found)),
        "useless_moves": float(sum(one.useless for one in found)),
        "overrun_s": max(one.took_s for one in found) - deadline_s,
    }


def main() -> int:
    """Plan, judge, print, and say whether every goal is met."""
    arguments = _arguments()
    rows, missed = {}, []
    for deadline_s in arguments.deadline or GOALS:
        found = []
        for batch in batches(arguments.seed, arguments.batches):
            found.append(judged(batch, deadline_s, arguments.seed))
            if arguments.each:
                one = found[-1]
                print(
                    f"  {batch.name:44} {one.before:.3f} -> {one.after:.4f}, {one.moves} moves ({one.useless} useless)"
                )
        rows[f"{deadline_s:g} s"] = reached = figures(found, deadline_s)
        print(f"{deadline_s:g} s: " + ", ".join(f"{name} {value:.4g}" for name, value in reached.items()), flush=True)
        goals = GOALS.get(deadline_s, {})
        missed += [f"{name} at {deadline_s:g} s" for name, limit in goals.items() if reached[name] > limit]
    if arguments.publish:
        publish(rows, arguments.seed, arguments.batches)
    print("missed: " + ", ".join(missed) if missed else "every goal is met")
    return 1 if missed else 0


def publish(rows: dict[str, dict[str, float]], seed: int, number: int) -> None:
    """The limits file: goals and what was reached."""
    machine = {"cores": os.cpu_count(), "python": platform.python_version()}
    goals = {f"{deadline_s:g} s": limits for deadline_s, limits in GOALS.items()}
    kept = {"machine": machine, "seed": seed, "batches": number, "goals": goals, "reached": rows}
    LIMITS.write_text(json.dumps(kept, indent=1) + "\n", encoding="utf-8")


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--deadline", action="append", type=float, help="seconds; default: 0.1 and 1")
    parser.add_argument("--seed", type=int, default=1, help="other batches")
    parser.add_argument("--batches", type=int, default=BATCHES)
    parser.add_argument("--each", action="store_true", help="a line for every batch")
    parser.add_argument("--publish", action="store_true", help=f"write {LIMITS}")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
