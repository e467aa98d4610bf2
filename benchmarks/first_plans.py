"""CPU of the plans that a fleet asks for, with the early end and without: 200 key groups on two to ten executors.

    python -m benchmarks.first_plans                   # a table, and what the early end loses
    python -m benchmarks.first_plans --each --seeds 1

Deadlines are by CPU time, so that a busy machine does not matter. A plan is judged by what the search makes small, a
batch and the price of its moves, and by whether the gate would make it. Without the early end a plan is asked for a
ratio of 0: then only a proven bound, or many meetings without a gain, end the search.
"""

from __future__ import annotations

import argparse
import dataclasses
import itertools
import json
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from benchmarks.clocks import clock_of
from streamjob_operator.spec.policies import Balancing
from streamjob_operator.steps.worth import worth
from streamjob_operator.steps.worth_time import LEAST_GAIN
from streamjob_planners import registry
from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import Budget, FloatArray, IntArray, LoadModel, Plan, PlanParams

GROUPS, DEADLINE_S = 200, 0.5
EXECUTORS, SLOTS, LEVELS = (2, 4, 7, 10), (1, 2, 4), (1, 2)
MOVE_S = {"near state": 0.1, "far state": 1.0}
STARTS = ("round robin", "level", "one heavy", "a third new", "few moves", "measured")
ERROR = 0.02
"""Of a measured task, standard error as a part of it: some six batches of noise of 5 percent."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """One model, what it is called by, and its budget."""

    start: str
    model: LoadModel
    budget: Budget


def asked(seed: int) -> Iterator[Asked]:
    """A job of each kind."""
    for at, (start, nodes, slots, levels, move) in enumerate(
        itertools.product(STARTS, EXECUTORS, SLOTS, LEVELS, MOVE_S)
    ):
        rng = np.random.default_rng((seed, at))
        budget = Budget(max_migrations=12) if start == "few moves" else Budget()
        yield Asked(start=start, model=_model(rng, start, (nodes, slots, levels), MOVE_S[move]), budget=budget)


def _model(rng: np.random.Generator, start: str, sizes: tuple[int, int, int], move_s: float) -> LoadModel:
    nodes, slots, levels = sizes
    level = np.repeat(np.arange(levels), GROUPS // levels)
    task_s = rng.lognormal(0.0, 0.6, GROUPS)
    task_s *= 3.0 * nodes * slots / task_s.sum()
    if start == "one heavy":
        task_s[0] = 3.0
    partition = np.arange(GROUPS) % (GROUPS // levels)
    node_of = partition % (max(1, nodes - nodes // 3) if start == "a third new" else nodes)
    if start in ("level", "measured"):
        node_of = _level(task_s, level, nodes)
    if start == "measured":  # levelled before, then measured anew
        task_s = task_s * np.exp(rng.normal(0.0, ERROR, GROUPS))
    return _as_model(task_s, level, partition, node_of, (nodes, slots), move_s)


def _level(task_s: FloatArray, level: IntArray, nodes: int) -> IntArray:
    """Longest first, to the node that has least to do in that level."""
    busy = np.zeros((int(level.max()) + 1, nodes))
    node_of = np.zeros(task_s.size, dtype=np.int64)
    for group in np.argsort(-task_s).tolist():
        node_of[group] = busy[level[group]].argmin()
        busy[level[group], node_of[group]] += task_s[group]
    return node_of


def _as_model(
    task_s: FloatArray, level: IntArray, partition: IntArray, node_of: IntArray, sizes: tuple[int, int], move_s: float
) -> LoadModel:
    nodes, slots = sizes
    return LoadModel(
        node_ids=tuple(f"executor-{number}" for number in range(nodes)),
        capacity=np.ones(nodes),
        marked=np.zeros(nodes, dtype=np.bool_),
        group_ids=GroupIds(operator=level, partition=partition),
        node_of=node_of,
        load=100.0 * task_s / (5.0 * slots),
        migration_cost_s=np.full(task_s.size, move_s),
        state_bytes=np.full(task_s.size, 1e6),
        pinned=np.zeros(task_s.size, dtype=np.bool_),
        batch=BatchShape(
            level=level,
            task_s=task_s,
            spread_s=0.05 * task_s,
            error_s=ERROR * task_s,
            slots=np.full(nodes, slots),
            speed=np.ones(nodes),
            fixed_s=0.5,
        ),
    )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One plan: CPU milliseconds, batch and price of the moves in seconds, and whether the gate makes it."""

    cpu_ms: float
    batch_s: float
    total_s: float
    act: bool


def made(one: Asked, ratio: float, seed: int) -> Made:
    """The plan that the operator would get."""
    clock, factor = clock_of(cpu=True)
    params = PlanParams(budget=one.budget, deadline_s=factor * DEADLINE_S, least_gain_ratio=ratio)
    planner, began_s = registry.get("search"), time.process_time()
    plan = planner.solve(one.model, params, np.random.default_rng(seed), clock)
    cpu_ms = 1000 * (time.process_time() - began_s)
    batch_s = plan.after.batch_s or 0.0
    price_s = _price_s(one.model, plan, params)
    act = worth(one.model, plan, Balancing()).act
    return Made(cpu_ms=cpu_ms, batch_s=batch_s, total_s=batch_s + price_s, act=act)


def _price_s(model: LoadModel, plan: Plan, params: PlanParams) -> float:
    paid = (plan.node_of != model.node_of) & ~empty_nodes(model)[plan.node_of]
    return float(model.migration_cost_s[paid].sum()) / params.payback_batches


def main() -> int:
    """Plan all of them both ways, print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--ratio", type=float, default=LEAST_GAIN, help="part of a batch that a plan must gain")
    parser.add_argument("--start", action="append", choices=STARTS, help="default: all")
    parser.add_argument("--every", type=int, default=1, help="each so many-th job alone")
    parser.add_argument("--each", action="store_true", help="a line for each job")
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    rows = {}
    for start in options.start or STARTS:
        jobs = [one for seed in range(options.seeds) for one in asked(seed) if one.start == start][:: options.every]
        pairs = [(made(one, 0.0, at), made(one, options.ratio, at)) for at, one in enumerate(jobs)]
        if options.each:
            for one, (whole, early) in zip(jobs, pairs, strict=True):
                shape = f"{one.model.n_nodes} x {one.model.batch.slots[0]}, {one.model.batch.n_levels} levels"
                print(f"  {shape}, {one.model.migration_cost_s[0]:g} s a move: {whole} -> {early}")
        rows[start] = _figures(pairs)
        print(f"{start:<12} {rows[start]}", flush=True)
    if options.out:
        options.out.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    return 0


def _figures(pairs: list[tuple[Made, Made]]) -> dict[str, float]:
    lost = [early.total_s / whole.total_s - 1.0 for whole, early in pairs]
    longer = [early.batch_s / whole.batch_s - 1.0 for whole, early in pairs]
    return {
        "jobs": len(pairs),
        "CPU, ms": round(float(np.mean([one.cpu_ms for one, _ in pairs])), 1),
        "CPU with the early end, ms": round(float(np.mean([one.cpu_ms for _, one in pairs])), 1),
        "batch and price above, percent": round(100 * float(np.mean(lost)), 3),
        "at most": round(100 * max(lost), 2),
        "batch longer, percent": round(100 * float(np.mean(longer)), 3),
        "longer at most": round(100 * max(longer), 2),
        "made by the gate": sum(one.act for one, _ in pairs),
        "with the early end made": sum(one.act for _, one in pairs),
    }


if __name__ == "__main__":
    sys.exit(main())
