"""Sections of a StreamJob's status that say how it is: executors, load, collocation, migrations. Pure."""

from __future__ import annotations

from streamjob_operator.digest import CycleDigest
from streamjob_operator.kube.models.status import (
    BatchStatus,
    CollocationStatus,
    ExecutorsStatus,
    LoadStatus,
    MarkedExecutor,
    MigrationsStatus,
    SinglesStatus,
)
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.report.facts import DriverFacts, Facts
from streamjob_operator.kube.report.motion import Motion
from streamjob_operator.singles import SingleBatches
from streamjob_operator.spec.quantities import format_duration
from streamjob_operator.steps import speeds
from streamjob_operator.steps.headroom import sentence
from streamjob_operator.steps.memory_advice import told_advice
from streamjob_operator.values import CycleRecord, Reason, Snapshot
from streamjob_planners.measures import skew_floor

CPU_BOUND = 0.7
"""Share of its busy time that a job computes from which on the processor is what it uses most."""


def phase_of(driver: DriverFacts | None, motion: Motion) -> Phase:
    """One word."""
    if driver is None:
        return Phase.PENDING
    if driver.phase is not Phase.RUNNING:
        return driver.phase
    words = {
        Reason.DRAINING.value: Phase.DRAINING,
        Reason.MOVES_PENDING.value: Phase.REBALANCING,
        Reason.WAITING_FOR_EXECUTORS.value: Phase.SCALING,
    }
    return words.get(motion.reason or "", Phase.RUNNING)


def executors_of(motion: Motion, driver: DriverFacts) -> ExecutorsStatus:
    """Numbers; those that nobody knows are absent."""
    ready = 0 if motion.live is None else motion.live
    target = motion.wanted
    return ExecutorsStatus(
        target=target,
        admitted=ready if driver.executors_admitted is None else driver.executors_admitted,
        ready=ready,
        summary=f"{ready}/{'-' if target is None else target}",
        selector=driver.selector,
        marked_for_removal=tuple(
            MarkedExecutor(id=name, pod=driver.pods.get(name), groups_left=left)
            for name, left in sorted(motion.groups_left.items())
        ),
    )


def load_of(record: CycleRecord, now: CycleDigest) -> LoadStatus | None:
    """Load as measured; None when nothing was. `now` are the cycle's figures."""
    if record.snapshot is None:
        return None
    room = record.room
    before = None if record.verdict.plan is None else record.verdict.plan.before
    floor = None if record.model is None else skew_floor(record.model)
    return LoadStatus(
        distance=_rounded(before.load_distance if before else now.distance_pct),
        index=_rounded(before.load_index if before else None),
        mean=_rounded(before.mean if before else now.mean_pct),
        floor=_rounded(floor.load_distance if floor else None),
        bottleneck=_bottleneck(record.snapshot),
        survived_alike=_rounded(None if room is None else room.alike_ratio),
        survived_any=_rounded(None if room is None else room.any_ratio),
        survived=None if room is None else sentence(room),
        memory=None if record.memory_advice is None else told_advice(record.memory_advice),
        speeds=() if record.memory is None else tuple(speeds.sentences(record.memory)),
        slow=None if record.memory is None else speeds.summary(record.memory),
    )


def batch_of(now: CycleDigest, objective_s: float | None) -> BatchStatus | None:
    """Batches as measured and predicted, beside the latency objective; None when none ended."""
    batch = now.batch
    if batch is None:
        return None
    return BatchStatus(
        measured_seconds=_rounded(batch.measured_s),
        predicted_seconds=_rounded(batch.predicted_s),
        error_percent=_rounded(batch.error_pct),
        bound_seconds=_rounded(batch.bound_s),
        singles=None if batch.singles is None else _singles(batch.singles),
        binds=batch.binds,
        summary=batch_summary(batch.measured_s, objective_s),
    )


def _singles(singles: SingleBatches) -> SinglesStatus:
    return SinglesStatus(
        batches=singles.batches,
        median_percent=round(singles.median_pct, 2),
        most_percent=round(singles.most_pct, 2),
    )


def batch_summary(measured_s: float | None, objective_s: float | None) -> str | None:
    """Three figures of the mean batch are enough to read at a glance."""
    if measured_s is None:
        return None
    shown = format_duration(float(f"{measured_s:.3g}"))
    return shown if objective_s is None else f"{shown}/{format_duration(objective_s)}"


def collocation_of(record: CycleRecord, now: CycleDigest) -> CollocationStatus | None:
    """None when nobody measured the traffic."""
    plan = record.verdict.plan
    factor = now.collocation_pct
    if factor is None:
        return None
    return CollocationStatus(
        factor=_rounded(factor), best=_rounded(None if plan is None else plan.after.collocation_factor)
    )


def migrations_of(facts: Facts, motion: Motion) -> MigrationsStatus:
    """Moves of the newest generation."""
    total = motion.pending + motion.done + motion.failed
    return MigrationsStatus(
        pending=motion.pending,
        done=motion.done,
        failed=motion.failed,
        summary=f"{motion.done}/{total}" if total else None,
        cost_left=format_duration(round(motion.cost_left_s, 2)) if motion.pending else None,
        eta_seconds=_eta_s(facts, motion),
    )


def _eta_s(facts: Facts, motion: Motion) -> float | None:
    """Batches that the pending moves still need, at one pace each, times the time from batch to batch."""
    record = None if facts.cycle is None else facts.cycle.record
    if not motion.pending or record is None or record.snapshot is None or not record.snapshot.rates.batches:
        return None
    return round(motion.boundaries_left * record.snapshot.window_s / record.snapshot.rates.batches, 1)


def _bottleneck(snapshot: Snapshot) -> str | None:
    busy_s = float(snapshot.busy_s.sum())
    if busy_s <= 0:
        return None
    return "cpu" if float(snapshot.cpu_s.sum()) >= CPU_BOUND * busy_s else "time"


def _rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 2)
