"""What a batch may take, and what one takes that holds the rows of such a time."""

from __future__ import annotations

import dataclasses

from streamjob_operator.scaling.objective import batch_objective_s
from streamjob_operator.spec.policies import Scaling
from streamjob_operator.steps.estimate import Estimate


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class InTime:
    """The objective, seconds, and what a batch that is as long would hold.

    `rows_ratio`: rows that arrive in the objective, or in the trigger interval if that is longer, over those of the
    batches that were measured. While a backlog goes these hold many times as many: what they take says nothing of
    whether batches will be in time.
    """

    objective_s: float
    rows_ratio: float = 1.0

    def batch_s(self, fixed_s: float, measured_s: float) -> float:
        """Seconds of that batch, of one that takes `measured_s` with as many rows as were measured; `fixed_s` of it
        do not go with rows."""
        return fixed_s + self.rows_ratio * (measured_s - fixed_s)


def in_time(scaling: Scaling, seen: Estimate) -> InTime | None:
    """None where batches only have to keep up."""
    rates, trigger_s = seen.recent.rates, seen.recent.rates.trigger_interval_s or 0.0
    objective_s = batch_objective_s(scaling, trigger_s)
    if objective_s is None:
        return None
    batches_per_s = rates.batches / seen.recent.window_s
    return InTime(objective_s=objective_s, rows_ratio=seen.growth_ratio * max(objective_s, trigger_s) * batches_per_s)
