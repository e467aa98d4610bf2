"""The stages of a simulated job's batches, as the agent would tell them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from streamjob_operator.measure.batches import Figure, figures_of
from streamjob_operator.measure.stages import pooled_spread_s
from streamjob_operator.values import StageView
from streamjob_planners.model import FloatArray, IntArray
from streamjob_sim.batch import Batch
from streamjob_sim.world import World

PLANNING, WORKING = "queryPlanning", "addBatch"
"""Parts of a batch: a simulated one has these two only."""


def stage_views(world: World, slices: Sequence[slice], batches: Sequence[Batch]) -> tuple[StageView, ...]:
    """Means over the batches; a source stage that takes time is level 0. Empty without a batch.

    `slices`: the key groups of each operator.
    """
    if not batches:
        return ()
    times = np.array([one.times for one in batches])
    source = _source(world, batches, times)
    return (*source, *(_operator(at, len(source) + at, row, batches, times) for at, row in enumerate(slices)))


def batch_figures(world: World, slices: Sequence[slice], batch: Batch) -> dict[Figure, float]:
    """What the agent would count of one batch beside its key groups: rows, moves, stages, and the time around them."""
    fixed_s = world.batch.fixed_s
    return figures_of(
        batch_s=batch.length_s,
        input_rows=batch.taken,
        other_busy_s=batch.other_busy_s,
        moved=batch.moves,
        parts_s={PLANNING: fixed_s, WORKING: max(0.0, batch.length_s - fixed_s)},
        stages=stage_views(world, slices, [batch]),
    )


def _mean(values: Sequence[float] | FloatArray, times: IntArray) -> float:
    """Of batches, each as often as it came: numpy's own average asks more about its input than it works out."""
    return float((np.asarray(values, dtype=np.float64) * times).sum() / float(times.sum()))


def _source(world: World, batches: Sequence[Batch], times: IntArray) -> tuple[StageView, ...]:
    """It has a task for each slot, all of one length."""
    if world.batch.source_records_per_slot_second is None:
        return ()
    cores = world.executors.cores
    wall_s = _mean([one.other_busy_s / (one.executors * cores) for one in batches], times)
    busy_s = _mean([one.other_busy_s for one in batches], times)
    return (StageView(operator=None, level=0, wall_s=wall_s, busy_s=busy_s, longest_s=wall_s),)


def _operator(operator: int, level: int, row: slice, batches: Sequence[Batch], times: IntArray) -> StageView:
    task_s: FloatArray = np.array([one.task_s[row] for one in batches])
    load_s = task_s - np.array([one.loading_s[row] for one in batches])
    squared_s2, total_s = float((times @ load_s**2).sum()), times @ load_s
    return StageView(
        operator=operator,
        level=level,
        wall_s=_mean([float(one.stage_s[operator]) for one in batches], times),
        busy_s=_mean(task_s.sum(axis=1), times),
        longest_s=_mean(task_s.max(axis=1), times),
        spread_s=pooled_spread_s(squared_s2, total_s, int(times.sum())),
    )
