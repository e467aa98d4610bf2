"""What each key group of the benchmark job costs: skew that is computed, so that the best batch is known."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.batch.bound import batch_bound
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import GroupId, LoadModel, PlanParams

SKEWS = ("uniform", "hot", "skewed", "shifting", "none")
SWINGING_SETS, SWINGING_TIMES = 4, 4.0
"""Sets of key groups that are hot in turn, and how many times as much work a hot one has."""
STRAGGLER = 0.4
"""Where among the partitions the straggler is: in the middle, so that it starts late on an executor that owns much."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Slow:
    """One executor that takes `times` as long in the batches from `first` to the one before `end`.

    Either its tasks sleep so much longer, or, where it is `throttled`, its process is stopped for the rest of the time
    again and again.
    """

    executor: str
    times: float
    first: int
    end: int
    throttled: bool = False


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`levels[l][phase][p]` is the work of key group p of stateful stage l in each batch of a phase, milliseconds:
    (n_phases, n_partitions) for each of the stages, which run one after another."""

    levels: tuple[np.ndarray, ...]
    batches_per_phase: int
    slow: Slow | None = None

    def level_ms(self, batch: int) -> np.ndarray:
        """Work of each key group in that batch, (n_levels, n_partitions)."""
        return np.stack([level[batch // self.batches_per_phase % len(level)] for level in self.levels])

    def bound_ms(self, executors: int, cores: int, batch: int) -> float:
        """What no placement takes less than for the stateful stages of one batch: the planners' proven bound."""
        slow = self.slow is not None and self.slow.first <= batch < self.slow.end
        return bound_ms(self.level_ms(batch), executors, cores, self.slow.times if self.slow and slow else 1.0)


def bound_ms(level_ms: np.ndarray, executors: int, cores: int, slower: float = 1.0) -> float:
    """The planners' proven bound of stages whose tasks take so long, (n_levels, n_partitions), one after another.

    One executor takes `slower` times as long.
    """
    speed = np.ones(executors)
    speed[0] /= slower  # any of them: all have as many slots
    return 1000.0 * batch_bound(model_of(level_ms / 1000.0, speed, cores), PlanParams())


def model_of(task_s: np.ndarray, speed: np.ndarray, cores: int) -> LoadModel:
    """The true work as a load model; its placement is any, for nothing limits the moves."""
    executors = speed.size
    n_levels, partitions = task_s.shape
    zeros = np.zeros(task_s.size)
    shape = BatchShape(
        level=np.repeat(np.arange(n_levels), partitions),
        task_s=task_s.ravel(),
        spread_s=zeros,
        slots=np.full(executors, cores, dtype=np.int64),
        speed=speed,
    )
    return LoadModel(
        node_ids=tuple(str(one) for one in range(executors)),
        capacity=np.ones(executors),
        marked=np.zeros(executors, dtype=np.bool_),
        group_ids=[GroupId(operator=at // partitions, partition=at % partitions) for at in range(task_s.size)],
        node_of=np.arange(task_s.size, dtype=np.int64) % executors,
        load=zeros,
        migration_cost_s=zeros,
        state_bytes=zeros,
        pinned=np.zeros(task_s.size, dtype=np.bool_),
        batch=shape,
    )


def key_group_ms(skew: str, partitions: int, total_ms: float, rng: np.random.Generator) -> np.ndarray:
    """Work of each key group per batch and phase, (n_phases, n_partitions), every row sums to total_ms.

    uniform: the same everywhere. hot: three key groups take half of the work (hot keys). skewed: Zipf with exponent
    0.8 in random order. opposed: the same, the other way round. rolled: the same, half of the partitions on.
    straggler: one key group has an eighth of the work. shifting: the skewed profile, rotated by a third twice.
    swinging: sets of key groups are hot in turn, and the same all together over a round.
    none: no work, which measures the fixed cost.
    """
    if skew == "none":
        return np.zeros((1, partitions))
    if skew == "swinging":
        member = rng.permutation(np.arange(partitions) % SWINGING_SETS)
        hot = np.where(member == np.arange(SWINGING_SETS)[:, None], SWINGING_TIMES, 1.0)
        return np.asarray(hot / hot.sum(axis=1, keepdims=True) * total_ms)
    shape = np.ones(partitions)
    if skew == "hot":
        shape = np.full(partitions, 0.5 / (partitions - 3))
        shape[rng.choice(partitions, 3, replace=False)] = 0.5 / 3
    if skew == "straggler":
        shape = np.full(partitions, 0.875 / (partitions - 1))
        shape[int(STRAGGLER * partitions)] = 0.125
    if skew in ("skewed", "shifting", "opposed", "rolled"):
        shape = rng.permutation(1.0 / np.arange(1, partitions + 1) ** 0.8)
    row = turned(skew, shape / shape.sum() * total_ms)
    phases = [row, np.roll(row, partitions // 3), np.roll(row, 2 * partitions // 3)] if skew == "shifting" else [row]
    return np.stack(phases)


def turned(skew: str, row: np.ndarray) -> np.ndarray:
    """Profiles that are another one elsewhere."""
    if skew == "opposed":
        return row[::-1].copy()
    return np.roll(row, row.size // 2) if skew == "rolled" else row
