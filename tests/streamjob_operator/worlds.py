"""A streaming job small enough to hold in the head: executors, key groups with fixed loads, moves that take effect."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np
from scipy import sparse

from streamjob_operator.cycle import turn
from streamjob_operator.ports import Ports, Quota, Reporter
from streamjob_operator.series import BatchSeries
from streamjob_operator.sight import Longer, Sight, resting
from streamjob_operator.spec import StreamJob, parse_job
from streamjob_operator.values import (
    Arrivals,
    CycleRecord,
    ExecutorView,
    Memory,
    QueryRates,
    Reason,
    Receipt,
    Snapshot,
    StageView,
    Verdict,
)
from streamjob_planners.model import FloatArray, GroupId, Plan

JOB = """
apiVersion: streamjob.dev/v1alpha1
kind: StreamJob
metadata: {name: small}
spec:
  application: {mainFile: job.py}
  executors: {min: 1, max: 6}
  balancing:
    mode: Auto
    planner: greedy
    statisticsPeriod: 10s
    planDeadline: 5s
    maxIterations: 1000
    migrationBudget: {maxCost: 1h, maxMigrations: 4}
  scaling: {mode: Auto, targetUtilization: 70, stabilization: {up: 0s, down: 0s}, executorTimeout: 60s}
"""


BATCHES, FIXED_S = 5, 0.1
"""Batches within a window, and what each takes beside the tasks of its busiest executor."""


class Crash(Exception):
    """The controller dies here."""


def job(*changes: tuple[str, str], annotations: dict[str, str] | None = None) -> StreamJob:
    """The job with pieces of its text replaced; a piece that is not there is a mistake of the test."""
    text = JOB
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    made = parse_job(text)
    metadata = made.metadata.model_copy(update={"annotations": annotations or {}})
    return made.model_copy(update={"metadata": metadata})


def ruled(rule: str, *changes: tuple[str, str]) -> StreamJob:
    """The job under a scaling rule."""
    return job(("scaling: {mode: Auto", f"scaling: {{mode: Auto, rule: {rule}"), *changes)


@dataclasses.dataclass(kw_only=True)
class World:
    """Implements MetricsSource, Actuator and MemoryStore. `loads` are percent points of one executor per group."""

    loads: list[float]
    owners: list[str | None]
    executors: dict[str, str]  # id -> state
    now_s: float = 1000.0
    measured_ago_s: float = 0.0
    rates: dict[str, float | int | None] = dataclasses.field(default_factory=dict)
    application: str = "app-1"
    actuation_on: bool = True
    moves_pending: int = 0
    arrive: bool = True  # whether executors that are asked for come
    moves_per_turn: int = 100
    stored: Memory = dataclasses.field(default_factory=Memory)
    assignments: list[Verdict] = dataclasses.field(default_factory=list)
    removed: list[str] = dataclasses.field(default_factory=list)
    moved: list[tuple[int, str]] = dataclasses.field(default_factory=list)
    generation: int | None = None
    traffic: sparse.csr_array | None = None
    observe_error: Exception | None = None
    actuate_error: Exception | None = None
    crash_at: set[str] = dataclasses.field(default_factory=set)
    waiting: dict[int, str] = dataclasses.field(default_factory=dict)
    cores: dict[str, int] = dataclasses.field(default_factory=dict)  # of executors that have more than one
    state_memory: list[float] | None = None  # bytes of each group's state
    state_limit: float | None = None  # of each executor
    process: tuple[float, float] | None = None  # bytes that each executor's process has used at most, and may use
    told: dict[str, int] = dataclasses.field(default_factory=dict)  # key groups of executors by the agent's count
    places: dict[int, int] = dataclasses.field(default_factory=dict)  # of groups that go to executors to come
    heard: bool = True  # whether the agent tells of itself while measurements are missing
    longer: Longer | None = None  # what it tells of its batches
    quota: Quota | None = None  # what bounds its executors beside those of other jobs

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        self._crash("observe")
        if self.observe_error is not None:
            raise self.observe_error
        return self._measured(now_s, window_s)

    def look(self) -> Sight | None:
        """What is seen without measurements."""
        if not self.heard:
            return None
        real, nothing = self._measured(self.now_s, 10.0), np.zeros(len(self.loads))
        blind = dataclasses.replace(
            real, busy_s=nothing, cpu_s=nothing, records=nothing, stages=(), rates=resting(self.now_s)
        )
        return Sight(snapshot=blind, longer=self.longer)

    def _measured(self, now_s: float, window_s: float) -> Snapshot:
        busy_s = np.array(self.loads) / 100.0 * window_s
        return Snapshot(
            taken_at_s=now_s - self.measured_ago_s,
            window_s=window_s,
            application_id=self.application,
            query_id="query-1",
            run_id="run-1",
            actuation_on=self.actuation_on,
            actuation_reason="ok" if self.actuation_on else "SelfTestFailed",
            generation_applied=self.generation,
            moves_pending=self.moves_pending + len(self.waiting),
            executors=tuple(
                ExecutorView(
                    executor_id=one,
                    host="h",
                    cores=self.cores.get(one, 1),
                    state=state,
                    busy_s=0.0,
                    groups=self.told.get(one),
                    memory_used_bytes=None if self.process is None else self.process[0],
                    memory_limit_bytes=None if self.process is None else self.process[1],
                    state_limit_bytes=self.state_limit,
                )
                for one, state in self.executors.items()
            ),
            group_ids=tuple(GroupId(operator=0, partition=at) for at in range(len(self.loads))),
            owners=tuple(self.owners),
            busy_s=busy_s,
            cpu_s=busy_s,
            records=busy_s * 1000.0,
            state_bytes=np.full(len(self.loads), 1e6),
            traffic_bytes=self.traffic,
            rates=self._rates(now_s, window_s),
            stages=(_stage(float(busy_s.sum()) / BATCHES),),
            state_memory_bytes=None if self.state_memory is None else np.array(self.state_memory),
        )

    def _rates(self, now_s: float, window_s: float) -> QueryRates:
        per_executor = dict.fromkeys(self.owners, 0.0)
        for owner, load in zip(self.owners, self.loads, strict=True):
            per_executor[owner] += load / 100.0 * window_s / BATCHES
        batch_s = FIXED_S + max(per_executor.values(), default=0.0)
        steady = QueryRates(
            batches=BATCHES,
            mean_batch_s=batch_s,
            last_batch_s=batch_s,
            last_batch_at_s=now_s,
            trigger_interval_s=None,
            input_rps=100.0,
            processed_rps=200.0,
            lag_rows=None,
            other_busy_s=0.0,
        )
        return dataclasses.replace(steady, **self.rates)

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        self._crash("before actuate")
        if self.actuate_error is not None:
            raise self.actuate_error
        generation = memory.generation + 1
        if generation <= (self.generation or 0):
            return Receipt(generation=None, accepted=False, reason=Reason.PLAN_STALE, message="older generation")
        self.assignments.append(verdict)
        self.generation = generation
        self._obey(snapshot, verdict)
        self._crash("after actuate")
        return Receipt(generation=generation, accepted=True, reason=verdict.reason, message="")

    def _obey(self, snapshot: Snapshot, verdict: Verdict) -> None:
        for executor_id in verdict.remove:
            assert executor_id not in self.owners, "an executor that holds key groups was removed"
            del self.executors[executor_id]
            self.removed.append(executor_id)
        for executor_id in self.executors:
            self.executors[executor_id] = "draining" if executor_id in verdict.marked_for_removal else "ready"
        if verdict.plan is not None:
            self._plan(snapshot, verdict.plan, verdict.arrivals)
        if verdict.executors_target is not None and self.arrive:
            fresh = [f"new-{len(self.assignments)}-{at}" for at in range(len(self.executors), verdict.executors_target)]
            self.come(*fresh)

    def _plan(self, snapshot: Snapshot, plan: Plan, arrivals: Arrivals | None) -> None:
        names = list(dict.fromkeys(one.executor_id for one in snapshot.executors if one.state in ("ready", "draining")))
        self.waiting = {move.group: names[move.target] for move in plan.moves}
        self.places = {} if arrivals is None else dict(zip(arrivals.groups, arrivals.places, strict=True))

    def come(self, *fresh: str) -> None:
        """Executors come, and the agent gives them what the plan has for them."""
        self.executors |= dict.fromkeys(fresh, "ready")
        self.waiting |= {at: fresh[place - 1] for at, place in self.places.items() if place <= len(fresh)}
        self.places = {at: place - len(fresh) for at, place in self.places.items() if place > len(fresh)}

    def load(self) -> Memory:
        self._crash("load")
        return self.stored

    def save(self, memory: Memory) -> None:
        self._crash("before save")
        self.stored = memory
        self._crash("after save")

    def turn(self, of: StreamJob, reporters: Iterable[Reporter] = ()) -> CycleRecord:
        """One cycle, then ten seconds of the world: up to `moves_per_turn` moves take effect."""
        try:
            ports = Ports(
                metrics=self,
                actuator=self,
                memory=self,
                reporters=tuple(reporters),
                look=self.look,
                quota=self.quota,
            )
            return turn(ports, of, self.now_s, np.random.default_rng(1), lambda: 0.0)
        finally:
            self.pass_time()

    def pass_time(self, seconds: float = 10.0) -> None:
        self.now_s += seconds
        for group in list(self.waiting)[: self.moves_per_turn]:
            target = self.waiting.pop(group)
            if target in self.executors:
                self.owners[group] = target
                self.moved.append((group, target))

    def _crash(self, where: str) -> None:
        if where in self.crash_at:
            self.crash_at.discard(where)
            raise Crash(where)


def _stage(busy_s: float) -> StageView:
    """The one stage, whose tasks take as long in every batch."""
    return StageView(operator=0, level=0, wall_s=busy_s, busy_s=busy_s, longest_s=busy_s, spread_s=0.0)


def even(executors: int, groups_each: int, load: float) -> World:
    """Every executor with the same load."""
    ids = [str(number) for number in range(executors)]
    return World(
        loads=[load] * (executors * groups_each),
        owners=[one for one in ids for _ in range(groups_each)],
        executors=dict.fromkeys(ids, "ready"),
    )


def series_with(
    busy_s: FloatArray, *, row_s: FloatArray, ended_s: float, input_rps: FloatArray | float = 100.0
) -> BatchSeries:
    """A batch a row, each of which takes three quarters of its time; nothing moves, nobody comes or goes."""
    nothing = np.zeros(row_s.size, dtype=np.int64)
    return BatchSeries(
        ended_at_s=ended_s - np.append(np.cumsum(row_s[:0:-1])[::-1], 0.0),
        row_s=row_s,
        batches=np.ones(row_s.size, dtype=np.int64),
        batch_s=0.75 * row_s,
        busy_s=busy_s,
        records=1000.0 * busy_s,
        input_rows=input_rps * row_s,
        other_busy_s=0.5 * row_s,
        moved=nothing,
        executors_changed=nothing,
    )


def warm(world: World, of: StreamJob) -> World:
    """The world after its warm-up."""
    record = world.turn(of)
    assert record.verdict.reason is Reason.WARMING_UP
    return world
