"""One cycle in the few figures that people look at: shared by the live view and the report."""

from __future__ import annotations

import dataclasses
from collections import Counter
from collections.abc import Mapping

import numpy as np
from scipy import sparse

from streamjob_operator.events import told
from streamjob_operator.series import BatchTimes
from streamjob_operator.singles import SingleBatches, single_batches
from streamjob_operator.values import LIVE_STATES, CycleRecord, ExecutorView, QueryRates, Room, Snapshot
from streamjob_planners.batch.by_rows import Line
from streamjob_planners.batch.knowledge import Knowledge
from streamjob_planners.model import BoolArray, Plan


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorDigest:
    """One executor: `load_pct` is the share of its task slots that its key groups kept busy over the window."""

    executor_id: str
    state: str
    load_pct: float
    groups: int


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BatchDigest:
    """Mean batches in seconds; a figure that nobody knows is None.

    `measured_s` over the window; `predicted_s` of the same window, with what was known before it; `error_pct` is the
    mean difference of both over the windows so far, in percent of the measured one; `singles` says how far predictions
    of the window's batches were off one by one; `planned_s` is what the plan promises; `bound_s` what no placement
    within the budget goes below; `binds` says what most of a batch is spent on.
    """

    measured_s: float
    predicted_s: float | None
    error_pct: float | None
    planned_s: float | None
    bound_s: float | None
    binds: str | None
    singles: SingleBatches | None = None


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CycleDigest:
    """What one cycle measured and did.

    `distance_pct` is measured on where the key groups ran; `predicted_pct` is what the plan promises, None without a
    plan. `batch` compares predicted with measured batches. `moves` and `moved_bytes` count what was accepted in this
    cycle; `pending` is what the agent had still to do. `changed_at_s`: since when key groups share the work as they do
    now, `level_changed_at_s` since when there is as much work for all; None where no change was seen within the window.
    `room`: how much more load today's placement survives. `woken`: what woke the cycle, in sentences; empty where it
    came by the clock.
    """

    at_s: float
    executors: tuple[ExecutorDigest, ...]
    mean_pct: float | None
    distance_pct: float | None
    predicted_pct: float | None
    collocation_pct: float | None
    rates: QueryRates | None
    target: int | None
    acted: bool
    reason: str
    message: str
    moves: int
    moved_bytes: float
    moved_cost_s: float
    pending: int
    removed: tuple[str, ...]
    batch: BatchDigest | None = None
    changed_at_s: float | None = None
    level_changed_at_s: float | None = None
    lines: Mapping[str, Line] | None = None
    woken: str = ""
    batch_times: BatchTimes | None = None
    room: Room | None = None

    @property
    def ready(self) -> int:
        """Executors that may own key groups and are not marked."""
        return sum(executor.state == "ready" for executor in self.executors)

    @property
    def marked(self) -> int:
        """Executors that are being drained."""
        return sum(executor.state == "draining" for executor in self.executors)


def digest(record: CycleRecord) -> CycleDigest:
    """The figures of one record."""
    snapshot, verdict = record.snapshot, record.verdict
    acted = verdict.act and record.receipt is not None and record.receipt.accepted
    executors = _executors(snapshot) if snapshot else ()
    mean_pct = _mean(snapshot) if snapshot else None
    refused = record.receipt if verdict.act and record.receipt is not None and not record.receipt.accepted else None
    return CycleDigest(
        at_s=record.at_s,
        executors=executors,
        mean_pct=mean_pct,
        distance_pct=_distance(executors, mean_pct),
        predicted_pct=verdict.plan.after.load_distance if verdict.plan else None,
        collocation_pct=_collocation(snapshot, verdict.plan),
        rates=snapshot.rates if snapshot else None,
        target=_target(record),
        acted=acted,
        reason=(refused or verdict).reason.value,
        message=(refused or verdict).message,
        moves=verdict.n_moves if acted else 0,
        moved_bytes=sum(move.state_bytes for move in verdict.plan.moves) if acted and verdict.plan else 0.0,
        moved_cost_s=verdict.cost_s if acted else 0.0,
        pending=snapshot.moves_pending if snapshot else 0,
        removed=verdict.remove if acted else (),
        batch=_batch(record),
        changed_at_s=record.changed_at_s,
        level_changed_at_s=record.level_changed_at_s,
        lines=record.lines,
        woken=told(record.woken),
        batch_times=record.batch_times,
        room=record.room,
    )


def _batch(record: CycleRecord) -> BatchDigest | None:
    snapshot, plan = record.snapshot, record.verdict.plan
    if snapshot is None or not snapshot.rates.batches:
        return None
    known = Knowledge() if record.memory is None else record.memory.batches
    fresh, error = known.at_s == snapshot.taken_at_s, known.error_ratio
    return BatchDigest(
        measured_s=snapshot.rates.mean_batch_s,
        predicted_s=known.predicted_s if fresh else None,
        error_pct=None if error is None else 100.0 * error.mean,
        planned_s=None if plan is None else plan.after.expected_s,
        bound_s=None if plan is None else plan.batch_bound_s,
        binds=record.binds,
        singles=single_batches([record.batch_times]),
    )


def _executors(snapshot: Snapshot) -> tuple[ExecutorDigest, ...]:
    groups = Counter(snapshot.owners)
    places = {one: at for at, one in enumerate(groups)}
    owner = np.array([places[one] for one in snapshot.owners], dtype=np.int64)
    return tuple(
        ExecutorDigest(
            executor_id=executor.executor_id,
            state=executor.state,
            load_pct=_load(snapshot, executor, owner == places.get(executor.executor_id, -1)),
            groups=groups[executor.executor_id],
        )
        for executor in snapshot.executors
        if executor.state in LIVE_STATES
    )


def _load(snapshot: Snapshot, executor: ExecutorView, own: BoolArray) -> float:
    busy_s = float(snapshot.busy_s[own].sum()) if own.size else 0.0
    return 100.0 * busy_s / (snapshot.window_s * executor.cores)


def _mean(snapshot: Snapshot) -> float | None:
    """Busy time of all key groups over the slots of the unmarked executors, percent (ALBIC paper, table 2)."""
    slots = sum(executor.cores for executor in snapshot.executors if executor.state == "ready")
    return 100.0 * float(snapshot.busy_s.sum()) / (snapshot.window_s * slots) if slots else None


def _distance(executors: tuple[ExecutorDigest, ...], mean_pct: float | None) -> float | None:
    loads = [executor.load_pct for executor in executors if executor.state == "ready"]
    return max(abs(load - mean_pct) for load in loads) if loads and mean_pct is not None else None


def _collocation(snapshot: Snapshot | None, plan: Plan | None) -> float | None:
    if plan is not None:
        return plan.before.collocation_factor
    if snapshot is None or snapshot.traffic_bytes is None:
        return None
    pairs = snapshot.traffic_bytes.tocoo()
    rows, columns = pairs.coords
    owners = np.array([owner or "" for owner in snapshot.owners])
    total = _sent_bytes(snapshot, snapshot.traffic_bytes)
    return 100.0 * float(pairs.data[owners[rows] == owners[columns]].sum()) / total if total > 0 else None


def _sent_bytes(snapshot: Snapshot, pairs: sparse.csr_array) -> float:
    """All that key groups sent to each other within the window: their pairs, or their totals where these are more."""
    known = np.asarray(pairs.sum(axis=1), dtype=np.float64).ravel()
    told = snapshot.traffic_sent_bytes
    return float((known if told is None else np.maximum(known, told)).sum())


def _target(record: CycleRecord) -> int | None:
    if record.scaling is not None:
        return record.scaling.target
    return record.memory.executors_target if record.memory else None
