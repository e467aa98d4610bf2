"""Kinds of jobs for the tournament: each a load model of what was seen, and a judge of what comes after it.

Every made-up job has 200 key groups on 10 executors, placed at random; 40 windows are seen and 40 follow. Of recorded
ones the first half is seen, and the second half follows (`benchmarks/record_jobs.py`).
What a window takes is the slowest executor of each level, added up, with what remote traffic costs at both ends.
"""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
from scipy import sparse

from benchmarks.worlds import join_links, link
from streamjob_operator.offline.snapshot_file import read_moment
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.values import Memory
from streamjob_planners import measures
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.columns import GroupIds
from streamjob_planners.model import FloatArray, IntArray, LoadModel

NODES, GROUPS, WINDOWS, MEAN = 10, 200, 40, 50.0
PERIOD_S = 10.0
RECORDED = Path("samples/snapshots/demo.json")
SERIES = Path("benchmarks/recorded")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """What a planner is told at today's placement, and the truth it is judged by.

    `after`: load of each key group in the windows that follow, remote traffic left out, (n_windows, n_groups).
    """

    model: LoadModel
    after: FloatArray

    def at(self, node_of: IntArray) -> Job:
        """After moves. What was measured of loads stays; remote traffic comes and goes with the placement."""
        moved = self._remote(node_of) - self._remote(self.model.node_of)
        return dataclasses.replace(self, model=_with_load(self.model, node_of, self.model.load + moved))

    def stretch(self) -> FloatArray:
        """What each window takes over what it would if all executors were level and all traffic local, (n_windows,)."""
        model = self.model
        level = np.zeros(model.n_groups, dtype=np.int64) if model.batch is None else model.batch.level
        stays, loads = ~model.marked, self.after + self._remote(model.node_of)
        taken = np.zeros(len(loads))
        for one in range(int(level.max()) + 1):
            member = np.zeros((model.n_groups, model.n_nodes))
            member[np.arange(model.n_groups), model.node_of] = level == one
            taken += (loads @ member / model.capacity).max(axis=1)
        ideal: FloatArray = self.after.sum(axis=1) / model.capacity[stays].sum()
        return np.asarray(taken / ideal, dtype=np.float64)

    def _remote(self, node_of: IntArray) -> FloatArray:
        model = self.model
        if model.traffic is None or model.traffic_load_ratio == 0.0:
            return np.zeros(model.n_groups)
        edges = sparse.coo_array(model.traffic)
        cost = model.traffic_load_ratio * np.where(node_of[edges.row] != node_of[edges.col], edges.data, 0.0)
        ends = np.bincount(edges.row, cost, model.n_groups) + np.bincount(edges.col, cost, model.n_groups)
        return np.asarray(ends, dtype=np.float64)


def _with_load(model: LoadModel, node_of: IntArray, load: FloatArray) -> LoadModel:
    """The model at a placement with these loads: a task's seconds hold what remote traffic takes, as its load does."""
    return dataclasses.replace(model, node_of=node_of, load=load, batch=measures.batch_at(model, load))


def _series(rng: np.random.Generator, base: FloatArray, noise: float) -> FloatArray:
    drawn: FloatArray = base * rng.lognormal(-(noise**2) / 2, noise, (2 * WINDOWS, base.size))
    return drawn


def _job(rng: np.random.Generator, series: FloatArray, level: IntArray | None = None, marked: int = 0) -> Job:
    series = series * (MEAN * NODES / series.sum(axis=1).mean())
    operator = np.zeros(GROUPS, dtype=np.int64) if level is None else level
    partition = np.concatenate([np.arange(count) for count in np.bincount(operator)])
    seen = series[:WINDOWS]
    model = LoadModel(
        node_ids=tuple(str(number) for number in range(NODES)),
        capacity=np.ones(NODES),
        marked=np.arange(NODES) < marked,
        group_ids=GroupIds(operator=np.sort(operator), partition=partition),
        node_of=rng.permutation(np.arange(GROUPS) % NODES),
        load=seen.mean(axis=0),
        migration_cost_s=np.full(GROUPS, 0.1),
        state_bytes=np.full(GROUPS, 1e6),
        pinned=np.zeros(GROUPS, dtype=np.bool_),
        load_series=seen,
        batch=_shape(seen, np.sort(operator)),
    )
    return Job(model=model, after=series[WINDOWS:])


def _shape(seen: FloatArray, level: IntArray, nodes: int = NODES) -> BatchShape:
    task_s = seen.mean(axis=0) / 100.0 * PERIOD_S
    return BatchShape(
        level=level,
        task_s=task_s,
        spread_s=seen.std(axis=0) / 100.0 * PERIOD_S,
        error_s=seen.std(axis=0) / 100.0 * PERIOD_S / np.sqrt(len(seen)),
        slots=np.ones(nodes, dtype=np.int64),
        speed=np.ones(nodes),
    )


def steady(seed: int) -> Job:
    """Loads within a third of each other, hardly any noise."""
    rng = np.random.default_rng(seed)
    return _job(rng, _series(rng, rng.uniform(0.7, 1.3, GROUPS), 0.05))


def tails(seed: int) -> Job:
    """Log-normal loads: some key groups are ten times heavier than most."""
    rng = np.random.default_rng(seed)
    return _job(rng, _series(rng, rng.lognormal(0.0, 1.0, GROUPS), 0.05))


def noisy(seed: int) -> Job:
    """Each key group's load varies by half of itself from window to window, by chance."""
    rng = np.random.default_rng(seed)
    return _job(rng, _series(rng, rng.lognormal(0.0, 0.5, GROUPS), 0.5))


def levels(seed: int) -> Job:
    """Four chained operators."""
    rng = np.random.default_rng(seed)
    level = np.sort(np.arange(GROUPS) % 4)
    return _job(rng, _series(rng, rng.lognormal(0.0, 0.5, GROUPS), 0.05), level)


def swinging(seed: int) -> Job:
    """Four sets of key groups, each hot in a quarter of the windows in turn: three times as heavy as when it is not."""
    rng = np.random.default_rng(seed)
    hot = (np.arange(2 * WINDOWS)[:, None] // 2 % 4) == rng.integers(0, 4, GROUPS)
    return _job(rng, _series(rng, rng.lognormal(0.0, 0.3, GROUPS), 0.05) * np.where(hot, 3.0, 1.0))


def swinging_levels(seed: int) -> Job:
    """The same with four chained operators, in each of which a quarter of the key groups is hot in turn."""
    rng = np.random.default_rng(seed)
    hot = (np.arange(2 * WINDOWS)[:, None] // 2 % 4) == rng.integers(0, 4, GROUPS)
    series = _series(rng, rng.lognormal(0.0, 0.3, GROUPS), 0.05) * np.where(hot, 3.0, 1.0)
    return _job(rng, series, np.sort(np.arange(GROUPS) % 4))


def talkative(seed: int, price: float = 0.5) -> Job:
    """Two operators, each key group of the first sends to one of the second; all remote costs half as much as work."""
    rng = np.random.default_rng(seed)
    width = GROUPS // 2
    level = np.repeat([0, 1], width)
    job = _job(rng, _series(rng, rng.uniform(0.7, 1.3, GROUPS), 0.05), level)
    traffic = join_links([link(0, width, width, np.arange(width), 1000.0)], GROUPS)
    ratio = price * MEAN * NODES / (2 * 1000.0 * width)
    model = dataclasses.replace(job.model, traffic=traffic, traffic_load_ratio=ratio)
    job = dataclasses.replace(job, model=model)
    load = model.load + job._remote(model.node_of)
    return dataclasses.replace(job, model=_with_load(model, model.node_of, load))


def talkative_distance(seed: int) -> Job:
    """The same by load distance: an engine whose operators run all the time."""
    job = talkative(seed)
    return dataclasses.replace(job, model=dataclasses.replace(job.model, batch=None))


def draining(seed: int) -> Job:
    """Two executors are marked for removal."""
    rng = np.random.default_rng(seed)
    return _job(rng, _series(rng, rng.lognormal(0.0, 0.5, GROUPS), 0.05), marked=2)


def recorded(seed: int) -> Job:
    """The real demo's last window, 16 key groups on 4 executors; what follows is it again with noise of a tenth."""
    rng = np.random.default_rng(seed)
    model = estimate(read_moment(RECORDED).snapshot, Memory()).model
    model = dataclasses.replace(model, node_of=rng.permutation(np.arange(model.n_groups) % model.n_nodes))
    return Job(model=model, after=_series(rng, model.load, 0.1)[WINDOWS:])


def of_series(name: str, seed: int) -> Job:
    """A job's own batches, placed at random; loads are such that a task's seconds are what was measured."""
    kept = json.loads((SERIES / f"{name}.json").read_text(encoding="utf-8"))
    load = np.array(kept["busy_ms"], dtype=np.float64) / 1000.0 / PERIOD_S * 100.0
    nodes, operator, level = int(kept["executors"]), np.array(kept["operator"]), np.array(kept["level"])
    partition = np.concatenate([np.arange(count) for count in np.bincount(operator)])
    seen, after = np.split(load, [len(load) // 2])
    model = LoadModel(
        node_ids=tuple(str(number) for number in range(nodes)),
        capacity=np.ones(nodes),
        marked=np.zeros(nodes, dtype=np.bool_),
        group_ids=GroupIds(operator=operator, partition=partition),
        node_of=np.random.default_rng(seed).permutation(np.arange(operator.size) % nodes),
        load=seen.mean(axis=0),
        migration_cost_s=np.full(operator.size, 0.1),
        state_bytes=np.array(kept["state_bytes"], dtype=np.float64),
        pinned=np.zeros(operator.size, dtype=np.bool_),
        load_series=seen,
        batch=_shape(seen, level, nodes),
    )
    return Job(model=model, after=after)


def recorded_jobs() -> dict[str, Callable[[int], Job]]:
    """By name, those of which a series was recorded."""
    return {f"recorded {file.stem}": functools.partial(of_series, file.stem) for file in sorted(SERIES.glob("*.json"))}


JOBS: dict[str, Callable[[int], Job]] = {
    "steady": steady,
    "heavy tails": tails,
    "noisy": noisy,
    "four levels": levels,
    "swinging": swinging,
    "swinging, four levels": swinging_levels,
    "talkative": talkative,
    "talkative, by load distance": talkative_distance,
    "draining": draining,
    "recorded demo": recorded,
    **recorded_jobs(),
}
