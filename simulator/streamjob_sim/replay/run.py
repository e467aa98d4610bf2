"""A trace under one rule and one policy: what it would have cost, and when it would have been late."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterator, Sequence

import numpy as np

from streamjob_operator.offline.proposal import default_job
from streamjob_operator.recording.trace import Trace
from streamjob_operator.spec import Mode, StreamJob
from streamjob_planners.model import Clock
from streamjob_sim.batch import Batch
from streamjob_sim.replay.planner import LevelPlanning
from streamjob_sim.replay.world_of import STARTUP_S, world_of
from streamjob_sim.score import Score
from streamjob_sim.simulate import simulate

MOST_ITERATIONS = 2_000
"""Limit of a plan's search: where key groups are to a point matters little here, time does."""
MOST_EXECUTORS = 100
"""Where no policy is given."""
APART_S = 600.0
"""Late batches that are closer than this to each other are told as one time."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Late:
    """A time in which batches were late: seconds from the trace's start, the worst batch, the most rows that waited."""

    from_s: float
    to_s: float
    worst_batch_s: float
    most_waiting: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Replayed:
    """One run.

    Attributes:
        name: rule and policy.
        executor_h: executor-hours; `peak_h` those of a fleet that always has as many as this one had at most.
        late_pct: time in batches that took longer than the objective, percent of all time in batches.
        p50_s, p99_s: batches, seconds.
        p99_latency_s: of results: from the arrival of a batch's oldest rows to its end, seconds.
        score: the simulator's own figures and series.
    """

    name: str
    executor_h: float
    peak: int
    peak_h: float
    late_pct: float
    late: tuple[Late, ...]
    p50_s: float
    p99_s: float
    p99_latency_s: float
    most_waiting: float
    scale_outs: int
    scale_ins: int
    turns_back: int
    elapsed_s: float
    score: Score


def for_replay(job: StreamJob) -> StreamJob:
    """The job as a replay runs it: it acts by itself, and its plans take little time."""
    spec = job.spec
    balancing = spec.balancing.model_copy(update={"mode": Mode.AUTO, "max_iterations": MOST_ITERATIONS})
    scaling = spec.scaling.model_copy(update={"mode": Mode.AUTO})
    return job.model_copy(update={"spec": spec.model_copy(update={"balancing": balancing, "scaling": scaling})})


def default_policy() -> StreamJob:
    """The policy that holds when nobody gives one: the defaults of every field, and MOST_EXECUTORS at most."""
    job = default_job()
    executors = job.spec.executors.model_copy(update={"max": MOST_EXECUTORS})
    return job.model_copy(update={"spec": job.spec.model_copy(update={"executors": executors})})


def with_rule(job: StreamJob, rule: str) -> StreamJob:
    """The job with another scaling rule."""
    scaling = job.spec.scaling.model_copy(update={"rule": rule})
    return job.model_copy(update={"spec": job.spec.model_copy(update={"scaling": scaling})})


def replay(
    name: str,
    trace: Trace,
    job: StreamJob,
    objective_s: float,
    *,
    startup_s: float = STARTUP_S,
    seed: int = 0,
    clock: Clock = time.monotonic,
) -> Replayed:
    """Run the real controller, under the job's rule and policy, through the trace.

    `objective_s`: what a batch may take; longer ones are late. `startup_s`: how long an executor takes to come.
    """
    begun_s = clock()
    job = for_replay(job)
    world = world_of(trace, job, startup_s=startup_s)
    score = simulate(world, job, seed=seed, clock=clock, planning=LevelPlanning())
    return judged(name, score, trace, objective_s, clock() - begun_s)


def judged(name: str, score: Score, trace: Trace, objective_s: float, elapsed_s: float) -> Replayed:
    """The figures of a run."""
    batches = score.batches
    times = np.array([one.times for one in batches], dtype=np.int64)
    lengths_s = np.repeat([one.length_s for one in batches], times) if batches else np.zeros(1)
    latency_s = np.repeat(list(latencies_s(batches)), times) if batches else np.zeros(1)
    peak = max((one.executors for one in batches), default=0)
    spent_s = float(lengths_s.sum())
    late_s = float(lengths_s[lengths_s > objective_s].sum())
    return Replayed(
        name=name,
        executor_h=score.executor_s / 3600.0,
        peak=peak,
        peak_h=peak * trace.duration_s / 3600.0,
        late_pct=100.0 * late_s / spent_s if spent_s > 0 else 0.0,
        late=tuple(late_times(batches, objective_s)),
        p50_s=float(np.percentile(lengths_s, 50)),
        p99_s=float(np.percentile(lengths_s, 99)),
        p99_latency_s=float(np.percentile(latency_s, 99)),
        most_waiting=score.max_waiting,
        scale_outs=score.scale_outs,
        scale_ins=score.scale_ins,
        turns_back=score.turns_back,
        elapsed_s=elapsed_s,
        score=score,
    )


def latencies_s(batches: Sequence[Batch]) -> Iterator[float]:
    """Of each batch (of alike ones each): its oldest rows came when the batch before it began."""
    before_s = 0.0
    for one in batches:
        last_start_s = one.end_s - one.length_s
        apart_s = (last_start_s - one.started_s) / (one.times - 1) if one.times > 1 else one.started_s - before_s
        yield apart_s + one.length_s
        before_s = last_start_s


def late_times(batches: Sequence[Batch], objective_s: float) -> Iterator[Late]:
    """Times in which batches took longer than that, those close to each other as one."""
    found: Late | None = None
    for one in batches:
        if one.length_s <= objective_s:
            continue
        if found is not None and one.started_s - found.to_s > APART_S:
            yield found
            found = None
        found = Late(
            from_s=one.started_s if found is None else found.from_s,
            to_s=one.end_s,
            worst_batch_s=max(one.length_s, 0.0 if found is None else found.worst_batch_s),
            most_waiting=max(one.waiting, 0.0 if found is None else found.most_waiting),
        )
    if found is not None:
        yield found
