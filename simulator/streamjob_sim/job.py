"""The simulated job: batch after batch, with a fake clock in seconds from the start of the world."""

from __future__ import annotations

import dataclasses
import math
from collections import deque

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray
from streamjob_sim import alike
from streamjob_sim.agent import Agent
from streamjob_sim.batch import Batch
from streamjob_sim.faults import Fault, FaultKind
from streamjob_sim.fleet import Fleet, Life, place
from streamjob_sim.shapes import arrivals, arrived_at
from streamjob_sim.stage_views import batch_figures
from streamjob_sim.stages import Stages, Timing, Work
from streamjob_sim.world import World

IDLE_S = 1.0
"""Pause after which a job without any executor looks again."""
KEPT_BATCHES = 20_000
"""Finished batches of which the details are kept for measuring."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Running:
    """The batch that runs now; a loss of an executor makes it longer."""

    started_s: float
    end_s: float
    work: Work
    timing: Timing
    moved: BoolArray
    times: int = 1


class SimulatedJob:
    """State of the world. Only :meth:`advance` lets time go by."""

    def __init__(self, world: World, rng: np.random.Generator) -> None:
        self.world = world
        self._rng = rng
        self.stages = Stages(world, rng)
        self.arrived = arrivals(world.arrival, world.duration_s, rng)
        self.fleet = Fleet(world.executors)
        owner = place(world.executors, [one.partitions for one in world.operators], rng)
        self.agent = Agent(world.agent, owner, rng)
        counts = [one.partitions for one in world.operators]
        self.state_bytes = np.repeat([one.state.initial_bytes for one in world.operators], counts)
        self._growth = np.repeat([one.state.bytes_per_record for one in world.operators], counts)
        self._nothing = np.zeros(self.state_bytes.size)
        self._cap = np.repeat([one.state.cap_bytes for one in world.operators], counts)
        self.now_s, self.taken = 0.0, 0.0
        self.batches: deque[Batch] = deque(maxlen=KEPT_BATCHES)
        self._running: Running | None = None
        self._until_s = 0.0
        self._next_start_s = world.batch.trigger_s
        self._deaths = sorted(
            (one for one in world.faults if one.kind is FaultKind.EXECUTOR_DEATH), key=lambda one: one.at_s
        )

    def advance(self, to_s: float) -> None:
        """Let everything happen up to and including that moment."""
        self._until_s = to_s
        while (at_s := self._next_event_s()) <= to_s:
            self.now_s = at_s
            self.fleet.tick(at_s)
            while self._deaths and self._deaths[0].at_s <= at_s:
                self._die(self._deaths.pop(0))
            if self._running is not None and self._running.end_s <= at_s:
                self._finish(self._running)
            if self._running is None and self._next_start_s <= at_s:
                self._start()
        self.now_s = to_s
        self.fleet.tick(to_s)

    @property
    def running(self) -> Running | None:
        """The batch that runs now."""
        return self._running

    def waiting(self, at_s: float) -> float:
        """Records that have arrived and were not taken yet."""
        return float(arrived_at(self.arrived, np.array([at_s]))[0]) - self.taken

    def _next_event_s(self) -> float:
        batch_s = self._next_start_s if self._running is None else self._running.end_s
        return min(batch_s, self._deaths[0].at_s if self._deaths else math.inf)

    def _start(self) -> None:
        open_executors = self.fleet.open()
        taken = min(self.waiting(self.now_s), self.world.batch.max_records or math.inf)
        if open_executors.size == 0 or taken <= 0:
            pause_s = self.world.batch.trigger_s if open_executors.size else IDLE_S
            self._next_start_s = self.now_s + pause_s
            return
        homeless = ~self.fleet.ready()[self.agent.registered]
        if homeless.any():
            self.agent.rescue(homeless, open_executors)
        self.agent.release(self.state_bytes, open_executors)
        self.fleet.slow(self._slow())
        self.taken += taken
        work = self.stages.work(taken, self.now_s, self._rng)
        moved = self.agent.registered != self.agent.seen
        timing = self.stages.time(work, self.agent.registered, self._loading_s(moved), self.fleet)
        times = 1 if moved.any() else self._alike(taken, timing.length_s)
        self.taken += (times - 1) * taken
        end_s = self.now_s + (times - 1) * self.world.batch.trigger_s + timing.length_s
        self._running = Running(started_s=self.now_s, end_s=end_s, work=work, timing=timing, moved=moved, times=times)

    def _alike(self, taken: float, length_s: float) -> int:
        """How many batches from this one on are like it, as nothing but time goes by meanwhile."""
        if not self.world.batch.alike or self.agent.goals or self.agent.places:
            return 1
        if not self.fleet.settled() or any(self.fleet.executors[one].cold for one in np.unique(self.agent.registered)):
            return 1
        return alike.batches(self.world, self.arrived, taken, length_s, self.now_s, self._until_s)

    def _slow(self) -> dict[int, float]:
        """Executors that are slow now, and the part of their speed that they keep."""
        slow = (one for one in self.world.faults if one.kind is FaultKind.EXECUTOR_SLOW and one.lasts_at(self.now_s))
        return {int(one.executor or 0): one.share or 1.0 for one in slow}

    def _loading_s(self, moved: BoolArray) -> FloatArray:
        if not moved.any():
            return self._nothing  # one array for the many batches without a move
        costs = self.world.costs
        return np.where(moved, costs.move_fixed_s + self.state_bytes / costs.move_bytes_per_s, 0.0)

    def _finish(self, running: Running) -> None:
        self.agent.confirm()
        self.state_bytes = np.minimum(
            self.state_bytes + self._growth * running.work.records * running.times,
            np.maximum(self._cap, self.state_bytes),
        )
        for index in np.unique(self.agent.seen):
            self.fleet.executors[index].cold = False
        batch = self._batch(running)
        # Each batch is looked at by several windows: what the agent counts of it is worked out once.
        figures = batch_figures(self.world, self.stages.slices, batch)
        self.batches.append(dataclasses.replace(batch, figures=figures))
        self._running = None
        trigger_s = self.world.batch.trigger_s
        planned_s = (math.floor(running.started_s / trigger_s + 1e-9) + running.times) * trigger_s
        self._next_start_s = max(running.end_s, planned_s)

    def _batch(self, running: Running) -> Batch:
        """What is kept of it."""
        work, timing, owner = running.work, running.timing, self.agent.seen
        return Batch(
            started_s=running.started_s,
            end_s=running.end_s,
            length_s=running.end_s - running.started_s - (running.times - 1) * self.world.batch.trigger_s,
            taken=work.taken,
            waiting=self.waiting(running.end_s),
            left=max(0.0, self.waiting(running.started_s)),
            moves=int(running.moved.sum()),
            moved_bytes=float(self.state_bytes[running.moved].sum()),
            executors=int(self.fleet.ready().sum()),
            task_s=timing.task_s,
            cpu_s=timing.cpu_s,
            loading_s=timing.loading_s,
            records=work.records,
            remote_bytes=timing.remote_bytes,
            stage_s=timing.stage_s,
            executor_busy_s=np.bincount(owner, timing.task_s, len(self.fleet.executors)).astype(np.float64),
            other_busy_s=timing.other_busy_s,
            fleet=frozenset(map(str, np.flatnonzero(self.fleet.ready()).tolist())),
            owner=owner.copy(),
            times=running.times,
        )

    def _die(self, fault: Fault) -> None:
        """An executor is lost; the batch that runs does its tasks again on the others, once that was noticed."""
        index = self._victim(fault)
        if index is None:
            return
        self.fleet.end(index, Life.DEAD, self.now_s)
        self.fleet.tick(self.now_s)
        lost, open_executors = self.agent.registered == index, self.fleet.open()
        if open_executors.size == 0:
            return  # the next batch waits for an executor, and finds homes then
        self.agent.rescue(lost, open_executors)
        if self._running is not None:
            loading_s = self._loading_s(lost)
            again = self.stages.time(self._running.work, self.agent.registered, loading_s, self.fleet)
            redo_s = np.bincount(self.agent.registered[lost], again.task_s[lost], 1) / self.world.executors.cores
            self._running.end_s = max(self._running.end_s, self.now_s) + self.world.costs.death_pause_s + redo_s.max()
            self._running.moved = self._running.moved | lost

    def _victim(self, fault: Fault) -> int | None:
        ready = self.fleet.ready()
        if fault.executor is None:
            held = np.bincount(self.agent.registered, minlength=ready.size)
            return int(np.where(ready, held, -1).argmax()) if ready.any() else None
        index = int(fault.executor) if fault.executor.isdigit() else ready.size
        return index if index < ready.size and ready[index] else None
