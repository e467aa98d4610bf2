"""The executors of a simulated job: they come late, are cold at first, and may die. Index i has the id str(i)."""

from __future__ import annotations

import dataclasses
import enum
import math

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_sim.world import Fleet as FleetSpec


class Life(enum.StrEnum):
    """Where an executor is in its life."""

    STARTING = "starting"
    READY = "ready"
    LEFT = "left"
    DEAD = "dead"


@dataclasses.dataclass(slots=True, kw_only=True)
class Executor:
    """One executor. It is paid for from `ready_at_s` to `gone_at_s`."""

    speed: float
    ready_at_s: float
    life: Life = Life.STARTING
    marked: bool = False
    cold: bool = True
    kept_ratio: float = 1.0  # of its speed, while it is slow
    gone_at_s: float = math.inf


class Fleet:
    """All executors that ever were; indices never change."""

    def __init__(self, spec: FleetSpec) -> None:
        self._spec = spec
        self.total = spec.initial
        self.executors: list[Executor] = []
        for _ in range(spec.initial):
            self._add(0.0)
        self.tick(0.0)
        for executor in self.executors:
            executor.cold = False

    def tick(self, now_s: float) -> None:
        """Let those come whose time it is, and replace the dead."""
        for executor in self.executors:
            if executor.life is Life.STARTING and executor.ready_at_s <= now_s:
                executor.life = Life.READY
        for _ in range(min(self.total, self._spec.available) - self._count(Life.STARTING, Life.READY)):
            self._add(now_s + self._spec.startup_s)

    def request(self, total: int, now_s: float) -> None:
        """Let there be that many in the end: more are started, those that have not come yet are called off."""
        self.total = total
        starting = [one for one in self.executors if one.life is Life.STARTING]
        for executor in starting[: max(0, self._count(Life.STARTING, Life.READY) - total)]:
            executor.life, executor.gone_at_s = Life.LEFT, executor.ready_at_s
        self.tick(now_s)

    def end(self, index: int, life: Life, now_s: float) -> None:
        """An executor leaves or dies."""
        executor = self.executors[index]
        executor.life, executor.gone_at_s, executor.marked = life, now_s, False

    def mark(self, names: tuple[str, ...]) -> None:
        """Exactly these are being drained."""
        for index, executor in enumerate(self.executors):
            executor.marked = str(index) in names and executor.life is Life.READY

    def slow(self, kept_ratios: dict[int, float]) -> None:
        """Exactly these keep that part of their speed."""
        for index, executor in enumerate(self.executors):
            executor.kept_ratio = kept_ratios.get(index, 1.0)

    def settled(self) -> bool:
        """Whether none is to come, and none is to be drained."""
        return not any(one.life is Life.STARTING or one.marked for one in self.executors)

    def next_coming_s(self) -> float:
        """When the next executor will be ready; infinity when none was asked for."""
        return min((one.ready_at_s for one in self.executors if one.life is Life.STARTING), default=math.inf)

    def ready(self) -> BoolArray:
        """Which can run tasks, (n_executors,)."""
        return np.array([one.life is Life.READY for one in self.executors])

    def open(self) -> IntArray:
        """Indices of those that may receive key groups: ready and not marked, or marked ones when there is no other."""
        ready = self.ready()
        unmarked = ready & ~np.array([one.marked for one in self.executors])
        return np.flatnonzero(unmarked if unmarked.any() else ready)

    def pace(self) -> FloatArray:
        """Seconds of an executor for each second of work on a warm one of speed 1, (n_executors,)."""
        factor = self._spec.cold_factor
        return np.array([(factor if one.cold else 1.0) / (one.speed * one.kept_ratio) for one in self.executors])

    def warm_pace(self) -> FloatArray:
        """The same, were all of them warm."""
        return np.array([1.0 / (one.speed * one.kept_ratio) for one in self.executors])

    def cold_start_s(self) -> FloatArray:
        """What the first task on each slot takes longer, (n_executors,)."""
        return np.array([self._spec.cold_start_s if one.cold else 0.0 for one in self.executors])

    def slots(self) -> IntArray:
        """Task slots, (n_executors,)."""
        return np.full(len(self.executors), self._spec.cores, dtype=np.int64)

    def spent_s(self, now_s: float) -> float:
        """Executor-seconds so far."""
        return sum(max(0.0, min(one.gone_at_s, now_s) - one.ready_at_s) for one in self.executors)

    def _count(self, *lives: Life) -> int:
        return sum(one.life in lives for one in self.executors)

    def _add(self, ready_at_s: float) -> None:
        speed = self._spec.speeds.get(str(len(self.executors)), 1.0)
        self.executors.append(Executor(speed=speed, ready_at_s=ready_at_s))


def place(spec: FleetSpec, n_partitions: list[int], rng: np.random.Generator) -> IntArray:
    """Owner of each key group at the start, (n_groups,), operator after operator."""
    if spec.placement == "Random":
        return rng.integers(spec.initial, size=sum(n_partitions))
    rows = [np.arange(n, dtype=np.int64) % spec.initial for n in n_partitions]
    if spec.placement == "Piled":
        third = max(1, spec.initial // 3)
        rows = [np.where(np.arange(row.size) % 6 < 5, np.arange(row.size) % third, row) for row in rows]
    return np.concatenate(rows)
