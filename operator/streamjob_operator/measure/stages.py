"""The stages of a query's batches between two pages: means per batch, and how much key groups vary."""

from __future__ import annotations

import numpy as np

from streamjob_agent import metric_names as names
from streamjob_operator.measure.growth import growth
from streamjob_operator.measure.page import Page
from streamjob_operator.values import StageView
from streamjob_planners.model import FloatArray


def stages_between(start: Page, end: Page, busy_s: FloatArray) -> tuple[StageView, ...]:
    """Stages that ran within the window, by level; empty without a batch or where the agent tells no stages.

    `busy_s`: seconds of each key group of `end` within the window, without warm-up, (n_groups,).
    """
    batches = growth(start.query, end.query, names.QUERY_BATCHES)
    levels = end.stages[names.STAGE_LEVEL]
    if batches < 1:
        return ()

    def mean(name: str, stage: str) -> float:
        return growth(start.stages[name], end.stages[name], stage) / batches

    views = []
    for stage, level in levels.items():
        operator = names.stage_operator(stage)
        view = StageView(
            operator=operator,
            level=int(level),
            wall_s=mean(names.STAGE_WALL_SECONDS, stage),
            busy_s=mean(names.STAGE_BUSY_SECONDS, stage),
            longest_s=mean(names.STAGE_LONGEST_SECONDS, stage),
            wait_s=mean(names.STAGE_WAIT_SECONDS, stage),
            spread_s=None if operator is None else _spread_s(start, end, operator, busy_s, batches),
        )
        if view.wall_s > 0 or view.busy_s > 0:
            views.append((view.level, stage, view))
    return tuple(view for _, _, view in sorted(views, key=lambda one: one[:2]))


def _spread_s(start: Page, end: Page, operator: int, busy_s: FloatArray, batches: float) -> float | None:
    key = operator
    if key not in start.squared_s2 or key not in end.squared_s2:
        return None
    of_operator = np.array([group.operator == operator for group in end.group_ids], dtype=np.bool_)
    return pooled_spread_s(growth(start.squared_s2, end.squared_s2, key), busy_s[of_operator], batches)


def pooled_spread_s(squared_s2: float, busy_s: FloatArray, batches: float) -> float | None:
    """Standard deviation of a key group's seconds from batch to batch, pooled over its operator's groups.

    `squared_s2`: squares of each group's seconds in each batch, added up; `busy_s`: each group's seconds in all of the
    `batches` together, (n,). None with fewer than two batches or without a group. The variance is
    (S2 / B - sum of mean_k squared) / n * B / (B - 1).
    """
    if batches < 2 or busy_s.size == 0:
        return None
    variance = (squared_s2 / batches - float(((busy_s / batches) ** 2).sum())) / busy_s.size
    return float(np.sqrt(max(0.0, variance) * batches / (batches - 1)))
