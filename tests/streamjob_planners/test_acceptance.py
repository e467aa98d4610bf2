"""A placement may replace today's for the second measure alone, and where that is worth its moves."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.acceptance import no_worse, pays
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import PlanParams

TODAY, EVENER = [0, 1, 1, 2], [0, 1, 2, 2]
"""One task takes ten seconds, and so does the batch, wherever the small ones are."""


def _model(small_model, node_of, cost_s):
    seconds = [10.0, 1.0, 1.0, 0.5]
    shape = BatchShape(
        level=np.zeros(4, dtype=np.int64),
        task_s=np.array(seconds),
        spread_s=np.zeros(4),
        slots=np.ones(3, dtype=np.int64),
        speed=np.ones(3),
    )
    model = small_model(node_of, seconds, n_nodes=3)
    return dataclasses.replace(model, batch=shape, migration_cost_s=np.full(4, cost_s))


def test_of_batches_that_are_as_long_the_evener_placement_is_no_worse(small_model):
    assert no_worse(_model(small_model, TODAY, 0.0), np.array(EVENER), PlanParams())
    assert not no_worse(_model(small_model, EVENER, 0.0), np.array(TODAY), PlanParams())


def test_a_gain_in_reach_pays_for_moves_that_no_batch_waits_for(small_model):
    assert pays(_model(small_model, TODAY, 1.0), np.array(EVENER), PlanParams())
    assert not pays(_model(small_model, TODAY, 20.0), np.array(EVENER), PlanParams())
    assert not pays(_model(small_model, EVENER, 0.0), np.array(TODAY), PlanParams())


def test_without_a_batch_loads_decide_and_moves_cost_nothing(small_model):
    model = dataclasses.replace(_model(small_model, TODAY, 20.0), batch=None)
    assert no_worse(model, np.array(EVENER), PlanParams())
    assert pays(model, np.array(EVENER), PlanParams())
