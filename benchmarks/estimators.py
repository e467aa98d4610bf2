"""Which capacity estimator brings a batch back when one executor becomes three times slower in mid-run, and recovers.

    python -m benchmarks.estimators

Four executors of two slots, 32 key groups of unequal load, windows of six batches with noise of 0.05. Key groups are
placed by `search` (1000 iterations) on loads and capacities as the estimator says. The executor is slow in windows 12
to 23. Told are batch times over the best of all splits (found by `search` on the true speeds, without noise): windows
until it is back within a tenth for good, and the mean after that; a move that is not needed counts, too.
"""

from __future__ import annotations

import json
import time
from pathlib import Path

import numpy as np

from streamjob_planners import registry as planners
from streamjob_planners.capacity import registry
from streamjob_planners.capacity.window import Window
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import FloatArray, IntArray, LoadModel, PlanParams

LIMITS = Path("benchmarks/limits/estimators.json")
NODES, SLOTS, GROUPS, BATCHES, NOISE = 4, 2, 32, 6, 0.05
SLOW_AT, WELL_AT, END, SLOWNESS = 12, 24, 40, 3.0
SEEDS, NEAR = range(1, 6), 1.1
NAMES = tuple(str(number) for number in range(NODES))


def _placed(load: FloatArray, capacity: FloatArray, node_of: IntArray, tolerance: float) -> IntArray:
    n_groups = load.size
    model = LoadModel(
        node_ids=NAMES,
        capacity=capacity,
        marked=np.zeros(NODES, dtype=np.bool_),
        group_ids=GroupIds(operator=np.zeros(n_groups, dtype=np.int64), partition=np.arange(n_groups)),
        node_of=node_of,
        load=load,
        migration_cost_s=np.zeros(n_groups),
        state_bytes=np.zeros(n_groups),
        pinned=np.zeros(n_groups, dtype=np.bool_),
    )
    params = PlanParams(tolerance=tolerance, deadline_s=60.0, max_iterations=1000)
    plan = planners.get("search").solve(model, params, np.random.default_rng(0), time.monotonic)
    return plan.node_of


def _batch(cost: FloatArray, node_of: IntArray, speed: FloatArray) -> float:
    return float((np.bincount(node_of, cost, NODES) / speed).max())


def run(name: str, seed: int) -> dict[str, float]:
    """One run of one estimator."""
    rng = np.random.default_rng(seed)
    cost = rng.uniform(0.5, 1.5, GROUPS)
    estimator, node_of = registry.get(name), np.arange(GROUPS, dtype=np.int64) % NODES
    ratios, moves, before = np.zeros(END), np.zeros(END), node_of
    best: dict[bool, float] = {}
    for number in range(END):
        slow = SLOW_AT <= number < WELL_AT
        speed = np.where(np.arange(NODES) == 2, 1.0 / SLOWNESS if slow else 1.0, 1.0)
        if slow not in best:
            best[slow] = _batch(cost, _placed(10.0 * cost, speed, node_of, 0.0), speed)
        ratios[number] = _batch(cost, node_of, speed) / best[slow]
        noise = rng.lognormal(0.0, NOISE, (BATCHES, GROUPS)).mean(axis=0)
        window = Window(
            executors=NAMES,
            slots=np.full(NODES, SLOTS),
            operator=np.zeros(GROUPS, dtype=np.int64),
            partition=np.arange(GROUPS),
            owner=node_of,
            task_s=cost / speed[node_of] * noise,
            rows=1000.0 * cost,
            moved=node_of != before,
            batches=BATCHES,
        )
        estimator = estimator.observed(window)
        known = estimator.speeds(NAMES)
        load = 10.0 * window.task_s * known[node_of]
        before, node_of = node_of, _placed(load, known, node_of, 2.0)
        moves[number] = float((before != node_of).sum())
    return {
        "windows_to_relief": _until_near(ratios[SLOW_AT:WELL_AT]),
        "slow_mean": float(ratios[SLOW_AT + 3 : WELL_AT].mean()),
        "windows_to_recovery": _until_near(ratios[WELL_AT:]),
        "well_mean": float(ratios[WELL_AT + 3 :].mean()),
        "quiet_mean": float(ratios[3:SLOW_AT].mean()),
        "moves": float(moves[3:].sum()),
    }


def _until_near(ratios: FloatArray) -> float:
    """Windows until the batch is within a tenth of the best and stays so; all of them where it never does."""
    far = np.flatnonzero(ratios > NEAR)
    return float(far[-1] + 1 if far.size else 0)


def main() -> None:
    """Measure, keep, print."""
    found = {}
    for name in registry.names():
        runs = [run(name, seed) for seed in SEEDS]
        found[name] = {figure: round(float(np.mean([one[figure] for one in runs])), 3) for figure in runs[0]}
        print(name, found[name], flush=True)
    LIMITS.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
