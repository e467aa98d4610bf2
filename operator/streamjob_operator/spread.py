"""How much key groups' tasks vary from batch to batch, whatever the batches' sizes."""

from __future__ import annotations

import numpy as np

from streamjob_operator.series import BatchSeries
from streamjob_planners.arrays import FloatArray, neighbour_variances

LEAST_ROWS = 4
"""Batches from which it is told."""
MOST_SPREAD = 3.0
"""Largest standard deviation of one key group's task that is believed, as a part of its mean."""


def spread_by_parts(series: BatchSeries | None) -> FloatArray | None:
    """Standard deviation of each key group's task over its mean in batches of equal size, (n_groups,); None where too
    few batches tell.

    From the parts that groups have of their batch, since batches of a changing rate differ in size; by differences of
    neighbours, since parts drift; pooled over the groups, a group's variance going with its seconds.
    """
    if series is None or series.batches.size < LEAST_ROWS:
        return None
    total = series.busy_s.sum(axis=1)
    parts = series.busy_s[total > 0] / total[total > 0, None]
    if len(parts) < LEAST_ROWS or not parts.any():
        return None
    mean, variance = parts.mean(axis=0), neighbour_variances(parts, series.batches[total > 0]).sum(axis=1).mean()
    spread: FloatArray = np.sqrt(variance / np.where(mean > 0, mean, np.inf))
    return np.minimum(spread, MOST_SPREAD)
