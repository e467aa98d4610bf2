"""The stages of a simulated job's batches, as the agent would tell them."""

from __future__ import annotations

import numpy as np

from streamjob_operator.measure.batches import Figure, figures_of
from streamjob_operator.measure.stages import pooled_spread_s
from streamjob_operator.values import StageView
from streamjob_planners.model import FloatArray
from streamjob_sim.job import Batch, SimulatedJob

PLANNING, WORKING = "queryPlanning", "addBatch"
"""Parts of a batch: a simulated one has these two only."""


def stage_views(job: SimulatedJob, batches: list[Batch]) -> tuple[StageView, ...]:
    """Means over the batches; a source stage that takes time is level 0. Empty without a batch."""
    if not batches:
        return ()
    source = _source(job, batches)
    levels = range(len(source), len(source) + len(job.stages.slices))
    return (*source, *(_operator(job, batches, at, level) for at, level in enumerate(levels)))


def batch_figures(job: SimulatedJob, batch: Batch) -> dict[Figure, float]:
    """What the agent would count of one batch beside its key groups: rows, moves, stages, and the time around them."""
    fixed_s = job.world.batch.fixed_s
    return figures_of(
        batch_s=batch.length_s,
        input_rows=batch.taken,
        other_busy_s=batch.other_busy_s,
        moved=batch.moves,
        parts_s={PLANNING: fixed_s, WORKING: max(0.0, batch.length_s - fixed_s)},
        stages=stage_views(job, [batch]),
    )


def _source(job: SimulatedJob, batches: list[Batch]) -> tuple[StageView, ...]:
    """It has a task for each slot, all of one length."""
    if job.world.batch.source_records_per_slot_second is None:
        return ()
    times = [one.times for one in batches]
    busy_s = float(np.average([one.other_busy_s for one in batches], weights=times))
    cores = job.world.executors.cores
    wall_s = float(np.average([one.other_busy_s / (one.executors * cores) for one in batches], weights=times))
    return (StageView(operator=None, level=0, wall_s=wall_s, busy_s=busy_s, longest_s=wall_s),)


def _operator(job: SimulatedJob, batches: list[Batch], operator: int, level: int) -> StageView:
    row = job.stages.slices[operator]
    times = np.array([one.times for one in batches])
    task_s: FloatArray = np.array([one.task_s[row] for one in batches])
    load_s = task_s - np.array([one.loading_s[row] for one in batches])
    squared_s2, total_s = float((times @ load_s**2).sum()), times @ load_s
    return StageView(
        operator=operator,
        level=level,
        wall_s=float(np.average([one.stage_s[operator] for one in batches], weights=times)),
        busy_s=float(np.average(task_s.sum(axis=1), weights=times)),
        longest_s=float(np.average(task_s.max(axis=1), weights=times)),
        spread_s=pooled_spread_s(squared_s2, total_s, int(times.sum())),
    )
