"""Greedy by batch time keeps the best placement on its way, by the measures of the objective."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import measures
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.greedy_levels import LevelGreedy
from streamjob_planners.model import PlanParams
from streamjob_planners.problem import compile_problem


def _model(small_model, seed):
    """Two levels of ten tasks each on five nodes of one to four slots."""
    rng = np.random.default_rng(seed)
    task_s = rng.choice([1.0, 1.0, 1.5, 2.0], 20)
    model = small_model(rng.integers(0, 5, 20).tolist(), task_s.tolist(), n_nodes=5)
    shape = BatchShape(
        level=np.arange(20) % 2,
        task_s=task_s,
        spread_s=np.zeros(20),
        slots=rng.integers(1, 5, 5),
        speed=np.ones(5),
    )
    return dataclasses.replace(model, batch=shape)


@pytest.mark.parametrize("seed", range(12))
def test_the_best_on_the_way_stays_by_batch_and_then_by_work_per_slot(small_model, seed):
    model, seen = _model(small_model, seed), []

    def over():
        seen.append(run.node_of.copy())
        return False

    run = LevelGreedy(compile_problem(model, PlanParams()), model.batch, over)
    run.relieve()
    costs = [_cost(model, node_of) for node_of in seen]
    assert len(seen) > 2
    assert _cost(model, run.node_of) == min(costs)


def _cost(model, node_of):
    effect = measures.effect(model, node_of)
    return round(effect.batch_s, 6), round(effect.level_rms_s, 6)
