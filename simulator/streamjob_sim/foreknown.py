"""Scaling rules that look into the world: fixed numbers and an oracle, to compare others with. Simulator only."""

from __future__ import annotations

import numpy as np

from streamjob_operator.scaling.rule import Situation, State, Wish
from streamjob_planners.model import FloatArray
from streamjob_sim.job import SimulatedJob

HEADROOM = 0.8
"""Part of the trigger interval that a batch should take: key groups are never placed as well as they can be."""
PATIENCE_S = 600.0
"""An executor that is needed again within this time is kept."""


class Fixed:
    """The same number for ever."""

    def __init__(self, name: str, executors: int) -> None:
        self.name = name
        self._executors = executors

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """That number."""
        why = "that is what it was set to"
        return Wish(executors=self._executors, needed=self._executors, why=why), {}


class Oracle:
    """Enough for the most that arrives until an executor asked for later than now could be there.

    A lower bound it is not: batches vary, and a backlog of the past is not looked at.
    """

    name = "oracle"

    def __init__(self, job: SimulatedJob) -> None:
        self._job = job
        self._need: FloatArray = needs(job)

    def decide(self, situation: Situation, state: State | None) -> tuple[Wish, State]:
        """The largest need from now to the horizon."""
        world = self._job.world
        horizon_s = world.executors.startup_s + 2 * situation.job.spec.balancing.statistics_period_s
        soon, later = self._most(situation, horizon_s + world.batch.trigger_s), self._most(situation, PATIENCE_S)
        executors = max(soon, min(later, situation.fleet.wanted))
        return Wish(executors=executors, needed=executors, why=f"so many are needed within {horizon_s:g} s"), {}

    def _most(self, situation: Situation, within_s: float) -> int:
        first = min(int(situation.now_s - self._job.world.start), self._need.size - 1)
        return int(self._need[first : first + int(within_s)].max())


def peak(job: SimulatedJob) -> Fixed:
    """Enough for the busiest batch of all."""
    return Fixed("static-peak", int(needs(job).max()))


def mean(job: SimulatedJob) -> Fixed:
    """Enough for the mean rate."""
    rate = float(job.arrived[-1]) / (job.arrived.size - 1)
    return Fixed("static-mean", needed(job, rate * job.world.batch.trigger_s, 0.0))


def needs(job: SimulatedJob) -> FloatArray:
    """Executors that a batch started in each second needs for what arrived in a trigger interval, (n_seconds,)."""
    trigger_s = int(job.world.batch.trigger_s)
    seconds = job.arrived.size - 1
    starts = np.arange(0, seconds, trigger_s)
    rows = job.arrived[np.minimum(starts + trigger_s, seconds)] - job.arrived[starts]
    found = [needed(job, taken, at_s) for taken, at_s in zip(rows.tolist(), starts.tolist(), strict=True)]
    return np.repeat(np.array(found, dtype=np.float64), trigger_s)[:seconds]


def needed(job: SimulatedJob, rows: float, at_s: float) -> int:
    """The fewest executors, all of full speed, that take these rows within HEADROOM of a trigger interval.

    Key groups are placed as well as they can be: a stage takes its largest task, or an even share of all.
    """
    world, bounds = job.world, job.world.policy.executors
    task_s = job.stages.work(rows, at_s, None).records / job.stages.rate + job.stages.overhead_s
    source_s = rows / (world.batch.source_records_per_slot_second or np.inf)
    left_s = HEADROOM * world.batch.trigger_s - world.batch.fixed_s
    for executors in range(bounds.min, bounds.max):
        slots = executors * world.executors.cores
        stages_s = sum(max(task_s[row].max(), task_s[row].sum() / slots) for row in job.stages.slices)
        if stages_s + source_s / slots <= left_s:
            return executors
    return bounds.max
