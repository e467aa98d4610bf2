"""Planners that must not make a batch longer: elb and clb on models that say what a batch takes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import measures, objective, registry
from streamjob_planners.acceptance import no_worse
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Objective, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.verify import verify


def _model(small_model, seed):
    """Two levels on unequal nodes; loads of one level say nothing of the other."""
    rng = np.random.default_rng(seed)
    task_s = rng.lognormal(0.0, 0.7, 16)
    series = task_s * rng.uniform(0.5, 1.5, (8, 16))
    model = small_model(rng.integers(0, 4, 16).tolist(), task_s.tolist(), n_nodes=4, load_series=series)
    shape = BatchShape(
        level=np.arange(16) % 2,
        task_s=task_s,
        spread_s=np.zeros(16),
        slots=np.array([1, 1, 2, 2]),
        speed=np.array([1.0, 0.5, 1.0, 1.0]),
    )
    return dataclasses.replace(model, batch=shape)


@pytest.mark.parametrize("name", ["elb", "clb"])
def test_no_plan_makes_a_batch_longer(small_model, name):
    moved = 0
    for seed in range(20):
        model = _model(small_model, seed)
        plan = registry.get(name).solve(model, PlanParams(), np.random.default_rng(0), lambda: 0.0)
        assert verify(model, plan, PlanParams()) == ()
        moved += len(plan.moves)
    assert moved > 0


def test_the_cost_is_seconds_or_points(small_model):
    model = _model(small_model, 1)
    seconds = objective.cost(compile_problem(model, PlanParams()), model.node_of)
    points = objective.cost(compile_problem(model, PlanParams(objective=Objective.LOAD_DISTANCE)), model.node_of)
    assert (len(seconds), len(points)) == (2, 1)
    assert no_worse(model, model.node_of, PlanParams())


def test_only_a_planner_that_collocates_may_raise_the_load_distance_for_local_traffic(small_model):
    model = small_model([0, 1], [5.0, 5.0], {(0, 1): 1e6}, n_nodes=2)
    together = np.array([0, 0])
    assert no_worse(model, together, PlanParams(max_load_distance=10.0))
    assert not no_worse(model, together, PlanParams(max_load_distance=4.0))
    assert not no_worse(model, together, PlanParams(max_load_distance=10.0), collocates=False)


def test_where_nothing_predicts_batches_there_are_no_seconds_to_compare(small_model):
    model = dataclasses.replace(_model(small_model, 1), batch=None)
    with pytest.raises(ValueError, match="predicts no batches"):
        _ = measures.effect(model, model.node_of).seconds
