"""Whether a search for shorter batches ends before its first step, by what is known of today's placement alone.

A search gives today's placement back where neither the batch nor its second measure can be had better by what is worth
having (`PlanParams.least_gain_ratio`), as far as is proven. Whoever knows that need not ask it.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.acceptance import empty_nodes
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Effect
from streamjob_planners.problem import Problem


def settled(problem: Problem, shape: BatchShape, today: Effect, bound_s: float) -> bool:
    """Whether it does; `today`: the placement's figures; `bound_s`: seconds that no batch goes below (`search_bound`).

    Of a model in which nothing is to leave a node and loads do not swing.
    """
    model, ratio = problem.model, problem.params.least_gain_ratio
    if today.batch_s is None or today.level_rms_s is None or empty_nodes(model).any():
        return False
    even_s = _even_s(shape)
    return today.batch_s - bound_s <= ratio * today.batch_s and today.level_rms_s - even_s <= ratio * even_s


def _even_s(shape: BatchShape) -> float:
    """What `level_rms_s` goes below nowhere: the work of each level shared out among all nodes by their slots."""
    work_s = np.bincount(shape.level, shape.task_s, shape.n_levels)
    width = shape.slots * shape.speed
    return float(work_s.sum()) / float(np.sqrt((width**2).sum() * width.size))
