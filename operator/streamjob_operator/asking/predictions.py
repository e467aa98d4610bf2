"""Batches of a job with other numbers of executors or another rate: the batch model, asked. Pure."""

from __future__ import annotations

import dataclasses

from streamjob_operator.asking.measured import Measured
from streamjob_operator.counting import executors
from streamjob_planners.batch.predict import Binding, Part, Predicted
from streamjob_planners.batch.rate import Limit, batch_of, largest_rate
from streamjob_planners.model import GroupId

ROUNDS = 200
"""Rounds after which a batch that holds what arrived during the one before is taken as it is."""
CLOSE = 1e-6
"""Relative difference of rows from which on nothing changes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Prediction:
    """Batches on so many executors, at one rate.

    Attributes:
        rows, batch_s: of the batches that follow each other for ever; None where each is longer than the one before.
        fixed_s, free_s, tasks_s, chance_s: the parts of `batch_s`: planning and commits, stages without key groups, the
            slowest executor of each level, and what tasks that vary add.
        busy_pct: part of the slots that tasks keep busy at that rate, above 100 where they cannot keep up.
        most_rps: the largest rate that is kept up for ever; None where rows take no time.
        binds: what most of a batch is spent on.
    """

    executors: int
    rows: float | None
    batch_s: float | None
    fixed_s: float
    free_s: float
    tasks_s: float
    chance_s: float
    busy_pct: float
    most_rps: float | None
    binds: str


def predicted(measured: Measured, executors: int, rate_rps: float) -> Prediction:
    """Batches of so many executors at that rate; raises ValueError for less than one executor."""
    work, slots = measured.work, measured.slots
    sustained = largest_rate(work, executors, slots)
    keeps_up = sustained.rate_rps is None or sustained.rate_rps > rate_rps
    rows = _steady_rows(measured, executors, rate_rps) if keeps_up else rate_rps * (measured.trigger_s or 1.0)
    batch = batch_of(work, rows, executors, slots)
    return Prediction(
        executors=executors,
        rows=rows if keeps_up else None,
        batch_s=batch.expected_s if keeps_up else None,
        fixed_s=batch.fixed_s,
        free_s=batch.free_s,
        tasks_s=float(batch.level_s.sum()),
        chance_s=batch.noise_s,
        busy_pct=_busy_pct(measured, rows, batch, rate_rps, executors),
        most_rps=sustained.rate_rps,
        binds=_words(batch.longest, measured.group_ids),
    )


def _steady_rows(measured: Measured, executors: int, rate_rps: float) -> float:
    """Rows of a batch that holds what arrives during it, or during a trigger interval where that is longer."""
    trigger_s = measured.trigger_s or 0.0
    rows = rate_rps * trigger_s
    for _ in range(ROUNDS):
        batch_s = batch_of(measured.work, rows, executors, measured.slots).expected_s
        held = rate_rps * max(trigger_s, batch_s)
        if abs(held - rows) <= CLOSE * max(held, 1.0):
            break
        rows = held
    return rows


def _busy_pct(measured: Measured, rows: float, batch: Predicted, rate_rps: float, executors: int) -> float:
    shape = measured.work.shape(rows, executors, measured.slots)
    work_s = float(shape.task_s.sum()) + sum(one.work_s for one in shape.free_stages)
    every_s = max(rows / rate_rps, 1e-12) if rate_rps > 0 else max(measured.trigger_s or batch.expected_s, 1e-12)
    return 100.0 * work_s / (every_s * executors * measured.slots)


def _words(longest: Binding, group_ids: tuple[GroupId, ...]) -> str:
    if longest.part is Part.FIXED:
        return "planning and commits, which no executor shortens"
    if longest.part is Part.FREE_STAGE:
        return "stages without key groups"
    stage = f"stage {(longest.level or 0) + 1}"
    if longest.part is Part.KEY_GROUP and longest.group is not None:
        group = group_ids[longest.group]
        return f"{stage}: key group {group.partition} of operator {group.operator} alone"
    return f"{stage}: the fullest executor"


def limit_words(limit: Limit, count: int) -> str:
    """Why a number of executors is not enough, as half a sentence."""
    words = {
        Limit.FIXED: "planning and commits alone take most of that, which no executor shortens",
        Limit.FREE_STAGE: "stages without key groups take most of that",
        Limit.KEY_GROUP: "one key group alone is too heavy for that",
        Limit.PARTITIONS: "every key group has a slot of its own already",
    }
    return words.get(limit, f"{executors(count, 'has', 'have')} too few slots")
