"""What one cycle adds to a job's series, and what it replaces. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamjob_operator.digest import CycleDigest
from streamjob_operator.kube.process import telemetry_names as names
from streamjob_operator.kube.process.telemetry_names import Family
from streamjob_operator.kube.report.decisions import outcome_of
from streamjob_operator.scaling.batch_time.ledger import newest_error_pct
from streamjob_operator.steps.speeds import unequal
from streamjob_operator.values import CycleRecord

Labels = tuple[str, ...]
Key = tuple[Family, Labels]
Figures = Mapping[Key, float]
"""(family, values of the labels beyond the job's) -> value."""
_COUNTED_ERRORS = "ReporterErrors"  # as Memory.counters calls them


def added(record: CycleRecord, figures: CycleDigest) -> Figures:
    """Growth of the counters; `figures` are the record's digest."""
    outcome = outcome_of(record)
    grown: dict[Key, float] = {(names.CYCLES, (outcome.decision, outcome.reason.value)): 1.0}
    grown.update({(names.WAKES, (kind.value,)): 1.0 for kind in {one.kind for one in record.woken}})
    grown.update({(names.STEP_SECONDS, (step,)): spent_s for step, spent_s in record.step_seconds.items()})
    if figures.moves:
        grown[(names.MOVES, ())] = float(figures.moves)
        grown[(names.MOVED_BYTES, ())] = figures.moved_bytes
        grown[(names.MOVE_COST, ())] = figures.moved_cost_s
    return grown


def replaced(record: CycleRecord, figures: CycleDigest) -> Figures:
    """All gauges; what is not known is not there. `figures` are the record's digest."""
    values: dict[Key, float | None] = {
        (names.LAST_CYCLE, ()): record.at_s,
        (names.EXECUTORS, ("wanted",)): figures.target,
        (names.LOAD_DISTANCE, ()): figures.distance_pct,
        (names.LOAD_MEAN, ()): figures.mean_pct,
        (names.COLLOCATION, ()): figures.collocation_pct,
        (names.LOAD_SURVIVED, ("alike",)): None if record.room is None else record.room.alike_ratio,
        (names.LOAD_SURVIVED, ("any",)): None if record.room is None else record.room.any_ratio,
        **_batches(record, figures),
        **dict(_measured(record, figures)),
        **dict(_remembered(record, figures)),
    }
    if figures.acted:
        values[(names.BUDGET_USED, ())] = _budget_used(record, figures)
    return {key: float(value) for key, value in values.items() if value is not None}


def _measured(record: CycleRecord, figures: CycleDigest) -> Iterator[tuple[Key, float]]:
    outage = None if record.memory is None else record.memory.outage
    if record.snapshot is None and outage is not None:
        yield (names.METRICS_AGE, ()), max(0.0, record.at_s - outage.since_s)
    if record.snapshot is not None:
        yield (names.METRICS_AGE, ()), max(0.0, record.at_s - record.snapshot.taken_at_s)
        yield (names.EXECUTORS, ("ready",)), figures.ready
        yield (names.EXECUTORS, ("marked",)), figures.marked
        yield (names.MOVES_PENDING, ()), figures.pending


def _remembered(record: CycleRecord, figures: CycleDigest) -> Iterator[tuple[Key, float]]:
    memory, snapshot = record.memory, record.snapshot
    if memory is None:
        return
    yield (names.REPORTER_ERRORS, ()), memory.counters.get(_COUNTED_ERRORS, 0)
    for executor, pace in unequal(memory).items():
        yield (names.EXECUTOR_SPEED, (executor,)), pace.speed
    promised = memory.predicted_distance
    if promised is None:
        return
    yield (names.PREDICTED_DISTANCE, ()), promised
    settled = (
        snapshot is not None
        and memory.acted_at_s is not None
        and snapshot.taken_at_s - snapshot.window_s >= memory.acted_at_s
    )
    if settled and figures.distance_pct is not None:
        yield (names.PREDICTION_ERROR, ()), figures.distance_pct - promised


def _batches(record: CycleRecord, figures: CycleDigest) -> dict[Key, float | None]:
    batch, memory = figures.batch, record.memory
    values: dict[Key, float | None] = {
        (names.PLANNED_BATCH, ()): None if memory is None else memory.predicted_batch_s,
        (names.SCALING_ERROR, ()): None if memory is None else newest_error_pct(memory.scaling),
    }
    if batch is not None:
        values[(names.BATCH_SECONDS, ())] = batch.measured_s
        values[(names.PREDICTED_BATCH, ())] = batch.predicted_s
        values[(names.BATCH_ERROR, ())] = batch.error_pct
        values[(names.BATCH_BOUND, ())] = batch.bound_s
    return values


def _budget_used(record: CycleRecord, figures: CycleDigest) -> float | None:
    limit_s = record.verdict.boundary_s
    return None if not limit_s else figures.moved_cost_s / limit_s
