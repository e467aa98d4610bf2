"""Series of batches as tests of wakes need them: drawn from seeds."""

from __future__ import annotations

import dataclasses

import numpy as np
from worlds import series_with

from streamjob_operator.series import BatchSeries
from streamjob_operator.waking.rows import Rows
from streamjob_planners.model import FloatArray

EXECUTORS, GROUPS = 4, 8
OWNERS = tuple(str(at % EXECUTORS) for at in range(EXECUTORS * GROUPS))
SLOTS = {str(at): 2 for at in range(EXECUTORS)}
PERIOD = 60
"""Batches of a look: three statistics periods of twenty each."""
TRIGGER_S = 10.0


def world(
    seed: int,
    noise: float,
    batches: int,
    shift_at: int | None = None,
    slow_at: int | None = None,
    well_at: int | None = None,
) -> FloatArray:
    """Seconds of each key group in each batch: work goes elsewhere, or executor 2 is slow for a while, 3 times."""
    rng = np.random.default_rng(seed)
    mean_s = rng.lognormal(0.0, 0.5, len(OWNERS))
    busy_s = np.tile(mean_s, (batches, 1))
    if shift_at is not None:
        busy_s[shift_at:, : len(OWNERS) // 4] += mean_s.sum() / (2 * len(OWNERS) // 4)
    if slow_at is not None:
        busy_s[slow_at:well_at, [at for at, owner in enumerate(OWNERS) if owner == "2"]] *= 3.0
    whole = rng.lognormal(0.0, noise / 2, (batches, 1))
    return np.asarray(busy_s * whole * rng.lognormal(0.0, noise, busy_s.shape), dtype=np.float64)


def rows(busy_s: FloatArray, until: int) -> Rows:
    """What is at hand when batch `until` has ended; a batch is a second."""
    begin = max(0, until - PERIOD)
    part = busy_s[begin:until]
    series = series_with(part, row_s=np.ones(len(part)), ended_s=1000.3 + until - 1)
    return Rows(series=dataclasses.replace(series, records=np.ones(part.shape)), owners=OWNERS, slots=SLOTS)


def taking(*seconds: float) -> BatchSeries:
    """Batches that take so long each, one in a trigger interval where they are in time."""
    series = rows(world(7, 0.1, len(seconds)), len(seconds)).series
    row_s = np.maximum(seconds, TRIGGER_S)
    return dataclasses.replace(series, batch_s=np.array(seconds), row_s=row_s, ended_at_s=1000.0 + np.cumsum(row_s))
