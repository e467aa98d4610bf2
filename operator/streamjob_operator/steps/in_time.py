"""What a batch may take, and what one takes that holds the rows of such a time."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.objective import batch_objective_s
from streamjob_operator.spec.policies import Scaling
from streamjob_operator.spread import spread_by_parts
from streamjob_operator.steps.estimate import Estimate
from streamjob_planners.batch.predict import predict
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InTime:
    """The objective, seconds, and what a batch that is as long would hold.

    `rows_ratio`: rows that arrive in the objective, or in the trigger interval if that is longer, over those of the
    batches that were measured. While a backlog goes these hold many times as many: what they take says nothing of
    whether batches will be in time. Nor does what they differ by in size, which the shape of a batch has for noise of
    its tasks: `spread_ratio` is what tasks vary by otherwise, over their mean, (n_groups,); None where nobody knows.
    """

    objective_s: float
    rows_ratio: float = 1.0
    spread_ratio: FloatArray | None = None

    def batch_s(self, measured: BatchShape, node_of: IntArray) -> float:
        """Mean seconds of that batch under a placement, (n_groups,); `measured` has as many rows as were measured."""
        if self.spread_ratio is not None:
            measured = dataclasses.replace(measured, spread_s=self.spread_ratio * measured.task_s)
        fixed_s = measured.fixed_s
        return fixed_s + self.rows_ratio * (predict(measured, node_of).expected_s - fixed_s)


def in_time(scaling: Scaling, seen: Estimate) -> InTime | None:
    """None where batches only have to keep up."""
    rates, trigger_s = seen.recent.rates, seen.recent.rates.trigger_interval_s or 0.0
    objective_s = batch_objective_s(scaling, trigger_s)
    if objective_s is None:
        return None
    batches_per_s = rates.batches / seen.recent.window_s
    return InTime(
        objective_s=objective_s,
        rows_ratio=seen.growth_ratio * max(objective_s, trigger_s) * batches_per_s,
        spread_ratio=spread_by_parts(seen.recent.series),
    )
