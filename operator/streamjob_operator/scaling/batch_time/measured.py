"""What batches take on any number of executors, as the measurements and the plan have it."""

from __future__ import annotations

import dataclasses
import functools
import math

import numpy as np

from streamjob_operator.scaling.rule import Situation
from streamjob_operator.series import BatchSeries
from streamjob_operator.spread import spread_by_parts
from streamjob_planners.arrays import BoolArray, FloatArray, IntArray, neighbour_variances
from streamjob_planners.batch.learned import Learned, learned
from streamjob_planners.batch.predict import ends
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.batch.work import Work, work_of
from streamjob_planners.sizing.lateness import duration
from streamjob_planners.sizing.pace import Pace, pace

LEAST_ROWS = 4
"""Batches from which their noise is told."""
MOST_NOISE = 0.3
"""Largest noise of whole batches that is believed, as a part of their mean."""
UNKNOWN_NOISE = 0.05
"""The same while nothing is known."""
MOST_BIAS = 1.3
"""A plan's batches over those of an ideal placement, up to which the plan is believed to stay that far off."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """A batch's work, and the slots of an executor. `bias`: what the plan's batches take over an ideal placement's."""

    work: Work
    rows: float
    slots: int
    noise_ratio: float
    bias: float = 1.0
    lost_executors: int = 0

    def paces(self, rows: float) -> functools._lru_cache_wrapper[Pace]:
        """What batches of about so many rows take, by the number of executors; each is worked out once.

        What slow executors lack is missing in each number, but for a last one: 0 executors take what one does.
        """

        @functools.cache
        def of(executors: int) -> Pace:
            whole = max(1, executors - self.lost_executors)
            found = pace(self.work, max(rows, 1.0), whole, self.slots)
            return dataclasses.replace(
                found,
                executors=executors,
                spread_ratio=max(found.spread_ratio, self.noise_ratio),
                fixed_s=self.work.fixed_s + self.bias * (found.fixed_s - self.work.fixed_s),
                row_s=self.bias * found.row_s,
            )

        return of


def measured(situation: Situation, noise: Learned | None) -> Measured | None:
    """From the situation; None where batches are not predicted, or nothing was taken in."""
    model, snapshot = situation.estimate.model, situation.snapshot
    rows = snapshot.rows_per_batch
    if model.batch is None or rows <= 0 or model.marked.all():
        return None
    seconds = situation.estimate.seconds
    fixed_s = 0.0 if seconds is None else seconds.mean_s * seconds.fixed_ratio
    work, spread_ratio = work_of(model.batch, rows, fixed_s), spread_by_parts(snapshot.series)
    found = Measured(
        work=work if spread_ratio is None else dataclasses.replace(work, spread_ratio=spread_ratio),
        rows=rows,
        slots=int(np.median(model.batch.slots[~model.marked])),
        noise_ratio=UNKNOWN_NOISE if noise is None else math.sqrt(max(noise.mean, 0.0)),
        lost_executors=math.ceil(situation.estimate.lost_executors - 1e-9),
    )
    return dataclasses.replace(found, bias=_bias(situation, found, model.batch))


def _bias(situation: Situation, found: Measured, batch: BatchShape) -> float:
    """The plan knows of pins, budgets and memory: what it cannot level, fewer or more executors cannot, either.

    One that empties executors says nothing of it: those that stay are evened out once these are gone.
    """
    marked = situation.estimate.model.marked
    if situation.snapshot.moves_pending or marked.any() or marked.size != situation.fleet.wanted:
        return 1.0
    ideal_s, fixed_s = found.paces(found.rows)(marked.size).batch_s(found.rows), found.work.fixed_s
    if ideal_s <= fixed_s:
        return 1.0
    planned_s = _planned_s(batch, situation.plan.node_of, found.work)
    return float(np.clip((planned_s - fixed_s) / (ideal_s - fixed_s), 1.0, MOST_BIAS))


def _planned_s(batch: BatchShape, node_of: IntArray, work: Work) -> float:
    """Seconds of the plan's batch by the chance that the ideal one has: while a backlog goes batches differ in size,
    and the plan has that for noise of its tasks."""
    shape = dataclasses.replace(batch, spread_s=work.spread_ratio * batch.task_s)
    return duration(shape, node_of, ends(shape, node_of)).mean_s


def with_noise(noise: Learned | None, situation: Situation) -> Learned | None:
    """What the newest calm batches teach of how much whole batches vary.

    By differences of neighbours, so that a rate that rises is no noise. Of batches that overrun
    their trigger, and of those right after them, the sizes swing by themselves.
    """
    series, rates = situation.snapshot.series, situation.snapshot.rates
    if series is None:
        return noise
    batch_s = series.batch_s / series.batches
    calm = steady(series, -math.inf) & _in_time(batch_s, rates.trigger_interval_s)
    if calm.sum() < LEAST_ROWS or batch_s[calm].mean() <= 0:
        return noise
    found = neighbour_variances(batch_s, series.batches)[calm[1:] & calm[:-1]]
    if found.size < LEAST_ROWS - 1:
        return noise
    variance = float(found.mean() / batch_s[calm].mean() ** 2)
    return learned(noise, min(variance, MOST_NOISE**2))


def _in_time(batch_s: FloatArray, trigger_s: float | None) -> BoolArray:
    """Batches that neither overran their trigger nor began with what waited because the one before did, (n_rows,)."""
    within: BoolArray = np.ones(batch_s.size, dtype=np.bool_) if not trigger_s else batch_s <= trigger_s
    within[1:] &= within[:-1].copy()
    return within


def steady(series: BatchSeries, since_s: float) -> BoolArray:
    """Rows after a moment in and right before which no key group moved and no executor came or went, (n_rows,)."""
    stirred = (series.moved > 0) | (series.executors_changed > 0)
    stirred[1:] |= stirred[:-1].copy()
    calm: BoolArray = series.within(since_s) & ~stirred
    return calm


def batches_of(series: BatchSeries, rows: BoolArray) -> tuple[FloatArray, FloatArray]:
    """Seconds and rows of the mean batch of each of these rows of the series, (n,) both."""
    batches = series.batches[rows]
    return series.batch_s[rows] / batches, series.input_rows[rows] / batches


def late_ratio(situation: Situation, objective_s: float | None) -> float:
    """Part of the window's steady batches that took longer than that, 0 to 1."""
    series = situation.snapshot.series
    if series is None or objective_s is None:
        return 0.0
    batch_s, _ = batches_of(series, steady(series, situation.snapshot.taken_at_s - situation.snapshot.window_s))
    return float((batch_s > objective_s).mean()) if batch_s.size else 0.0
