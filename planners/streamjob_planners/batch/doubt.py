"""How much of a plan's gain may come from the noise of what was measured.

A planner looks for the placement that is best by the measured seconds. Where all placements are as good, it finds one
that levels the noise, and promises what the noise has put on today's slowest executors. So a gain is real where it is
more than noise makes of a placement that is as level as the plan's: its batches, with errors drawn as large as those
of the measurement, less its batch without them.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import IntArray
from streamjob_planners.batch.predict import batches_s
from streamjob_planners.batch.shape import BatchShape

DRAWS, LEAST_DRAWS, MOST_TASKS = 64, 8, 200_000
"""Batches that are drawn: fewer where they have very many tasks, and deviations add up to little anyway."""
SURE = 4.0
"""Standard deviations beyond the mean. The end of the slowest of several has a longer tail than the normal one, and a
job is asked every period for years."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Doubt:
    """What noise makes of a level placement's batch, seconds: its mean, and what it hardly ever exceeds."""

    mean_s: float
    most_s: float


def doubt(shape: BatchShape, node_of: IntArray) -> Doubt:
    """By drawing; the same for the same arguments. Zero where no errors are known."""
    if shape.error_s is None or not shape.error_s.any():
        return Doubt(mean_s=0.0, most_s=0.0)
    draws = int(np.clip(MOST_TASKS // shape.task_s.size, LEAST_DRAWS, DRAWS))
    rng = np.random.default_rng(0)  # the same numbers for every plan: plans are compared, not chances
    errors = rng.standard_normal((draws, shape.task_s.size)) * shape.error_s
    rows_s = np.vstack([shape.task_s, np.maximum(0.0, shape.task_s + errors)])
    exact_s, *drawn_s = batches_s(dataclasses.replace(shape, fixed_s=0.0, free_stages=()), node_of, rows_s)
    more_s = np.array(drawn_s) - exact_s
    mean_s = max(0.0, float(more_s.mean()))
    return Doubt(mean_s=mean_s, most_s=mean_s + SURE * float(more_s.std(ddof=1)))
