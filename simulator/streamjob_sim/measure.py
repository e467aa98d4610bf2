"""MetricsSource of a simulated job: whole batches that cover the window, with the faults that the world has."""

from __future__ import annotations

import dataclasses
import itertools
from collections import Counter
from collections.abc import Iterator, Mapping

import numpy as np
from scipy import sparse

from streamjob_operator.measure.batches import Figure, Totals, series_of
from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import ExecutorView, QueryRates, RunningBatch, Snapshot
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_sim.agent import Agent
from streamjob_sim.batch import Batch
from streamjob_sim.faults import METRICS, FaultKind, lasting
from streamjob_sim.fleet import Life
from streamjob_sim.job import SimulatedJob
from streamjob_sim.stage_views import stage_views
from streamjob_sim.world import World

SERIES_WINDOWS = 3.0
RECENT_ENDS = 5
"""Ends of batches between which gaps are recent."""
APPLICATION, QUERY, RUN = "simulated-app", "simulated-query", "simulated-run"


class SimulatedMetrics:
    """What the agent would tell, faults included. Raises Unavailable or Stale as the world says."""

    def __init__(self, job: SimulatedJob, rng: np.random.Generator) -> None:
        self._job = job
        self._rng = rng
        self._last_good: Snapshot | None = None

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """Measurements of whole batches that cover window_s."""
        fault = lasting(self._job.world.faults, METRICS, now_s - self._job.world.start)
        if fault is None:
            self._last_good = truth(self._job, window_s)
            return self._last_good
        if fault.kind is FaultKind.METRICS_UNAVAILABLE or self._last_good is None:
            raise Unavailable("The simulated agent does not answer.")
        if fault.kind is FaultKind.METRICS_REFUSED:
            raise Stale("The simulated agent says that its figures are old.")
        if fault.kind is FaultKind.METRICS_FROZEN:
            return self._last_good
        snapshot = truth(self._job, window_s)
        hit = self._rng.random(len(snapshot.group_ids)) < (fault.share or 0.0)
        return _with_gaps(snapshot, hit) if fault.kind is FaultKind.METRICS_GAPS else _partial(snapshot, ~hit)


def truth(job: SimulatedJob, window_s: float) -> Snapshot:
    """What happened in the newest whole batches that cover the window, without any fault."""
    batches, covered_s = newest_batches(job, window_s)
    task_s, cpu_s, warmup_s, records, remote_bytes = (
        _sum(job, batches, name) for name in ("task_s", "cpu_s", "loading_s", "records", "remote_bytes")
    )
    busy_s, traffic = task_s - warmup_s, _traffic(job, records)
    alive = job.fleet.ready()
    return Snapshot(
        taken_at_s=job.world.start + (batches[-1].end_s if batches else job.now_s),
        window_s=covered_s,
        application_id=APPLICATION,
        query_id=QUERY,
        run_id=RUN,
        actuation_on=True,
        actuation_reason="",
        generation_applied=job.agent.generation,
        moves_pending=len(job.agent.goals),
        executors=_executors(job, batches),
        group_ids=job.stages.group_ids,
        owners=_owners(job.agent, alive),
        busy_s=busy_s,
        cpu_s=cpu_s,
        records=records,
        state_bytes=job.state_bytes.copy(),
        traffic_bytes=traffic,
        rates=_rates(job, batches, covered_s),
        traffic_sent_bytes=None if traffic is None else np.asarray(traffic.sum(axis=1), dtype=np.float64),
        read_bytes=None if traffic is None else np.asarray(traffic.sum(axis=0), dtype=np.float64),
        remote_read_bytes=remote_bytes,
        stages=stage_views(job.world, job.stages.slices, batches),
        warmup_s=warmup_s,
        series=series_of(list(_totals(job, window_s))),
    )


def _totals(job: SimulatedJob, window_s: float) -> Iterator[Totals]:
    """Readings at the ends of the newest batches, of the window and of two more before it."""
    batches, covered_s = newest_batches(job, SERIES_WINDOWS * window_s)
    nothing = np.zeros(len(job.stages.group_ids))
    sums = {"task_s": nothing, "loading_s": nothing, "records": nothing}
    figures: Counter[Figure] = Counter()
    begun_s = job.world.start + (batches[-1].end_s if batches else job.now_s) - covered_s
    fleet = batches[0].fleet if batches else frozenset()
    yield _reading(begun_s, 0, sums, figures, fleet, batches[0].owner if batches else job.agent.seen)
    for batch, count in zip(batches, itertools.accumulate(one.times for one in batches), strict=True):
        sums = {name: total + batch.times * getattr(batch, name) for name, total in sums.items()}
        figures.update({name: batch.times * value for name, value in batch.figures.items()})
        yield _reading(job.world.start + batch.end_s, count, sums, figures, batch.fleet, batch.owner)


def _reading(
    at_s: float,
    batches: int,
    sums: Mapping[str, FloatArray],
    figures: Mapping[Figure, float],
    fleet: frozenset[str],
    owner: IntArray,
) -> Totals:
    return Totals(
        at_s=at_s,
        batches=batches,
        busy_s=sums["task_s"],
        warmup_s=sums["loading_s"],
        records=sums["records"],
        figures=dict(figures),
        executors=fleet,
        owners=owner,
    )


def _owners(agent: Agent, alive: BoolArray) -> tuple[str | None, ...]:
    """Where each group ran last; where that executor is gone, where it will run next."""
    pairs = zip(agent.seen.tolist(), agent.registered.tolist(), strict=True)
    return tuple(next((str(one) for one in pair if alive[one]), None) for pair in pairs)


def newest_batches(job: SimulatedJob, window_s: float) -> tuple[list[Batch], float]:
    """The newest batches that cover the window, and the time they cover; none when the job has been idle for long.

    A batch stands for the time from the end of the one before it to its own end.
    """
    recent_s = [one.end_s for one in itertools.islice(reversed(job.batches), RECENT_ENDS)]
    recent_s += [0.0] if len(recent_s) < RECENT_ENDS else []
    if not job.batches or job.now_s - recent_s[0] > _patience_s(recent_s, window_s):
        return [], max(window_s, job.now_s - recent_s[0])
    since_s = recent_s[0] - window_s + 1e-6
    found: list[Batch] = []
    for batch in reversed(job.batches):  # from the newest on: a week holds many
        if batch.end_s <= since_s:
            return found[::-1], recent_s[0] - batch.end_s
        found.append(batch)
    return found[::-1], recent_s[0]


def _patience_s(recent_s: list[float], window_s: float) -> float:
    """As the real source of metrics: three of the longest gaps between these ends of batches, newest first, at least
    one window."""
    return max([window_s, *(3 * (after - before) for after, before in itertools.pairwise(recent_s))])


def _sum(job: SimulatedJob, batches: list[Batch], name: str) -> FloatArray:
    total = np.zeros(len(job.stages.group_ids))
    for batch in batches:
        total += batch.times * getattr(batch, name)
    return total


def _executors(job: SimulatedJob, batches: list[Batch]) -> tuple[ExecutorView, ...]:
    busy_s = np.zeros(len(job.fleet.executors))
    for batch in batches:
        busy_s[: batch.executor_busy_s.size] += batch.times * batch.executor_busy_s
    return tuple(
        ExecutorView(
            executor_id=str(index),
            host="simulated-host",
            cores=job.world.executors.cores,
            state="draining" if executor.marked else "ready",
            busy_s=float(busy_s[index]),
            groups=job.agent.holds(index),
        )
        for index, executor in enumerate(job.fleet.executors)
        if executor.life is Life.READY
    )


def _rates(job: SimulatedJob, batches: list[Batch], covered_s: float) -> QueryRates:
    count = sum(one.times for one in batches)
    taken = sum(one.times * one.taken for one in batches)
    spent_s = sum(one.times * one.length_s for one in batches)
    last = job.batches[-1] if job.batches else None
    return QueryRates(
        batches=count,
        mean_batch_s=spent_s / count if batches else 0.0,
        last_batch_s=last.length_s if last else 0.0,
        last_batch_at_s=job.world.start + (last.end_s if last else 0.0),
        trigger_interval_s=job.world.batch.trigger_s,
        input_rps=taken / covered_s,
        processed_rps=taken / spent_s if spent_s > 0 else 0.0,
        lag_rows=_lag(job.world, last),
        other_busy_s=sum(one.times * one.other_busy_s for one in batches),
        running=running_batch(job),
    )


def _lag(world: World, last: Batch | None) -> float | None:
    if last is None or world.batch.lag == "untold":
        return None
    return last.waiting if world.batch.lag == "atEnd" else last.left


def running_batch(job: SimulatedJob) -> RunningBatch | None:
    """What is told of the batch that runs; None of several in a row that are worked out as one: nobody knows which."""
    running = job.running
    if running is None or running.times > 1:
        return None
    return RunningBatch(began_at_s=job.world.start + running.started_s, rows=running.work.taken)


def _traffic(job: SimulatedJob, records: FloatArray) -> sparse.csr_array | None:
    cells = job.stages.traffic_cells(records)
    if not cells:
        return None
    rows, columns, sizes = (np.concatenate(parts) for parts in zip(*cells, strict=True))
    return sparse.csr_array((sizes, (rows, columns)), shape=(records.size, records.size))


def _with_gaps(snapshot: Snapshot, hit: BoolArray) -> Snapshot:
    def blank(values: FloatArray) -> FloatArray:
        return np.where(hit, 0.0, values)

    series = snapshot.series
    return dataclasses.replace(
        snapshot,
        busy_s=blank(snapshot.busy_s),
        cpu_s=blank(snapshot.cpu_s),
        records=blank(snapshot.records),
        series=None
        if series is None
        else dataclasses.replace(series, busy_s=blank(series.busy_s), records=blank(series.records)),
    )


def _partial(snapshot: Snapshot, kept: BoolArray) -> Snapshot:
    rows = np.flatnonzero(kept)
    traffic, series = snapshot.traffic_bytes, snapshot.series

    def of_kept(values: FloatArray | None) -> FloatArray | None:
        return None if values is None else values[rows]

    return dataclasses.replace(
        snapshot,
        group_ids=tuple(snapshot.group_ids[row] for row in rows),
        owners=tuple(snapshot.owners[row] for row in rows),
        busy_s=snapshot.busy_s[rows],
        cpu_s=snapshot.cpu_s[rows],
        records=snapshot.records[rows],
        state_bytes=snapshot.state_bytes[rows],
        traffic_bytes=None if traffic is None else traffic[rows][:, rows],
        traffic_sent_bytes=of_kept(snapshot.traffic_sent_bytes),
        read_bytes=of_kept(snapshot.read_bytes),
        remote_read_bytes=of_kept(snapshot.remote_read_bytes),
        warmup_s=of_kept(snapshot.warmup_s),
        series=None if series is None else series.of_groups(rows),
    )
