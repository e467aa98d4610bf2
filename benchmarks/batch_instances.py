"""Made-up batches: chained levels of skewed tasks on executors of which a third may be new and empty."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np

from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import Budget, FloatArray, IntArray, LoadModel

SKEWS = ("log-normal", "zipf", "opposed")
BATCHES = 72
MOST_TASKS = 2000
"""Key groups of a level."""
COST_S = 0.2
"""Pause of one move."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Batch:
    """One made-up batch: its name, the model, what may be moved."""

    name: str
    model: LoadModel
    budget: Budget


def batches(seed: int, number: int = BATCHES) -> Iterator[Batch]:
    """The three skews in turn, with new executors and without, everything else drawn."""
    for one in range(number):
        rng = np.random.default_rng((seed, one))
        yield _batch(rng, SKEWS[one % len(SKEWS)], growing=one // len(SKEWS) % 2 == 0)


def _batch(rng: np.random.Generator, skew: str, *, growing: bool) -> Batch:
    n_nodes = round(float(np.exp(rng.uniform(np.log(4), np.log(50)))))
    slots, n_levels = int(rng.choice([1, 1, 2, 4, 8])), int(rng.integers(1, 6))
    old = max(2, n_nodes - n_nodes // 3) if growing else n_nodes
    n_tasks = int(min(MOST_TASKS, max(n_nodes, rng.uniform(2.0, 8.0) * n_nodes * slots)))
    task_s, level = _tasks(rng, skew, n_levels, n_tasks)
    task_s *= rng.uniform(3.0, 30.0) * n_nodes * slots / task_s.sum()
    budget = Budget() if rng.random() < 2 / 3 else Budget(max_migrations=task_s.size // 2)
    name = f"{skew}, {n_nodes} x {slots}, {n_levels} x {n_tasks}{', growing' if growing else ''}"
    return Batch(name=name, model=model_of(rng, task_s, level, (n_nodes, old, slots)), budget=budget)


def _tasks(rng: np.random.Generator, skew: str, n_levels: int, n_tasks: int) -> tuple[FloatArray, IntArray]:
    level = np.repeat(np.arange(n_levels), n_tasks)
    if skew == "log-normal":
        task_s = rng.lognormal(0.0, rng.uniform(0.3, 0.9), level.size)
    else:
        ranks = np.arange(1, n_tasks + 1) ** -rng.uniform(0.3, 0.8)
        rising = [rng.permutation(ranks) for _ in range(n_levels)]
        if skew == "opposed":
            first = rng.permutation(ranks)
            by_size = np.argsort(np.argsort(first))
            rising = [first if one % 2 == 0 else np.sort(ranks)[::-1][by_size] for one in range(n_levels)]
        task_s = np.concatenate(rising)
    return task_s * np.repeat(rng.uniform(0.3, 1.0, n_levels), n_tasks), level


def model_of(rng: np.random.Generator, task_s: FloatArray, level: IntArray, sizes: tuple[int, int, int]) -> LoadModel:
    """The model; `sizes`: executors, those of them that hold key groups today, and slots of each."""
    n_nodes, old, slots = sizes
    partition = np.concatenate([np.arange(count) for count in np.bincount(level)])
    return LoadModel(
        node_ids=tuple(f"executor-{number}" for number in range(n_nodes)),
        capacity=np.ones(n_nodes),
        marked=np.zeros(n_nodes, dtype=np.bool_),
        group_ids=GroupIds(operator=level, partition=partition),
        node_of=partition % old,
        load=100.0 * task_s / task_s.sum(),
        migration_cost_s=np.full(task_s.size, COST_S),
        state_bytes=np.full(task_s.size, 1e6),
        pinned=np.zeros(task_s.size, dtype=np.bool_),
        batch=BatchShape(
            level=level,
            task_s=task_s,
            spread_s=np.zeros(task_s.size),
            slots=np.full(n_nodes, slots),
            speed=np.ones(n_nodes),
            fixed_s=float(rng.uniform(0.0, 1.0)),
        ),
    )
