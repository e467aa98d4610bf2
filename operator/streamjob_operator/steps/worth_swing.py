"""Whether a plan gains enough over the batches of the series, one by one, where their mean hides that loads swing."""

from __future__ import annotations

import numpy as np

from streamjob_operator.counting import moves_told
from streamjob_operator.spec import Balancing
from streamjob_operator.steps.boundary import moves_cost_s
from streamjob_operator.values import Reason
from streamjob_planners.model import LoadModel, Plan
from streamjob_planners.swings.common import LEAST_SWING, swing_ratio
from streamjob_planners.window_time import WindowTime

LEAST_GAIN = 0.03
"""Part of the batches that moves must gain in the older half of them and in the newer one: a plan is made from both, so
that a little less by chance is nothing."""


def gained(model: LoadModel, plan: Plan, balancing: Balancing) -> tuple[Reason, str] | None:
    """The reason to make the plan; None where loads do not swing, it gains too little, or batches are not predicted."""
    series, batch_s = model.load_series, plan.before.expected_s
    if series is None or batch_s is None or model.batch is None or not plan.moves:
        return None
    if swing_ratio(series) < LEAST_SWING:
        return None
    before, after = (WindowTime(model, node_of).taken(series) for node_of in (model.node_of, plan.node_of))
    halves = zip(np.array_split(before, 2), np.array_split(after, 2), strict=True)
    ratio = min(1.0 - float(new.sum()) / max(float(old.sum()), 1e-12) for old, new in halves)
    gain_s = ratio * max(0.0, batch_s - model.batch.fixed_s)
    cost_s = moves_cost_s(model, plan, balancing.migration_budget)
    if ratio < LEAST_GAIN or gain_s * balancing.payback_batches < cost_s:
        return None
    message = (
        f"Loads swing from batch to batch: the last {len(series)} would have taken {100 * ratio:.0f} percent less in "
        f"both halves of them; {moves_told(len(plan.moves), 'costs', 'cost')} {cost_s:.2g} s once."
    )
    return Reason.BATCH_TIME, message
