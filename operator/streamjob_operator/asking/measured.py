"""What the batch model says of a job at one moment: its batches by their rows, what arrives, and on how many slots."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.observed import BATCHES_IN_LAG
from streamjob_operator.steps.batching import learn_batches, live
from streamjob_operator.steps.estimate import Estimate, estimate
from streamjob_operator.values import CycleRecord, Memory, Snapshot
from streamjob_planners.batch.work import Work, work_of
from streamjob_planners.model import FloatArray, GroupId


class Unanswerable(ValueError):
    """Nothing can be said of this job's batches; the sentence says why."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """One moment of a job.

    Attributes:
        work: what a batch is made of, by its rows.
        group_ids: the key groups of `work`, in its order.
        at_s: end of the window that was measured, seconds since the epoch.
        rate_rps: rows per second that the sources bring.
        rows: rows of a mean batch.
        batch_s: its seconds.
        executors: unmarked ones.
        slots: task slots of each.
        trigger_s: trigger interval, None without one.
        lag_rows: rows that wait at the source beyond what arrives during a batch; None where nobody tells.
    """

    work: Work
    group_ids: tuple[GroupId, ...]
    at_s: float
    rate_rps: float
    rows: float
    batch_s: float
    executors: int
    slots: int
    trigger_s: float | None = None
    lag_rows: float | None = None


def of_record(record: CycleRecord) -> Measured:
    """What a cycle measured, with what it remembers; raises Unanswerable."""
    if record.snapshot is None:
        raise Unanswerable(f"this cycle measured nothing: {record.verdict.message}")
    return of_snapshot(record.snapshot, record.memory or Memory())


def of_snapshot(snapshot: Snapshot, memory: Memory) -> Measured:
    """A measurement, and what is remembered of those before; a memory that does not know it learns it first.

    Raises Unanswerable, and ValueError on a snapshot that makes no load model.
    """
    if not snapshot.rates.batches:
        raise Unanswerable("no batch ended within the window that was measured")
    if all(one.executor_id in memory.marked for one in live(snapshot)):
        raise Unanswerable("no executor is ready that is not marked")
    memory = learn_batches(memory, snapshot)
    seen = estimate(snapshot, memory)
    if seen.model.batch is None:
        raise Unanswerable("batches of this job take what its tasks do not tell, so they are not predicted")
    rates, recent = seen.recent.rates, seen.recent
    rows = recent.rows_per_batch
    if rows <= 0:
        raise Unanswerable("batches within the window held no rows")
    open_nodes = ~seen.model.marked
    return Measured(
        work=work_of(seen.model.batch, rows, _task_fixed_s(seen)),
        group_ids=tuple(seen.model.group_ids),
        at_s=snapshot.taken_at_s,
        rate_rps=rates.input_rps * seen.growth_ratio,
        rows=rows,
        batch_s=rates.mean_batch_s,
        executors=int(open_nodes.sum()),
        slots=int(np.median(seen.model.batch.slots[open_nodes])),
        trigger_s=rates.trigger_interval_s,
        lag_rows=_beyond_batches(recent),
    )


def _task_fixed_s(seen: Estimate) -> FloatArray | float:
    return 0.0 if seen.seconds is None else seen.seconds.mean_s * seen.seconds.fixed_ratio


def _beyond_batches(snapshot: Snapshot) -> float | None:
    """A lag is read at a batch's end: what arrives during a batch and a half is no backlog."""
    rates = snapshot.rates
    if rates.lag_rows is None:
        return None
    return max(0.0, rates.lag_rows - BATCHES_IN_LAG * rates.mean_batch_s * rates.input_rps)
