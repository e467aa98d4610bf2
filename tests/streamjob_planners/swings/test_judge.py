"""A mean batch may get longer where the batches themselves get shorter by as much, and nowhere else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import facts, plans
from streamjob_planners.model import PlanParams
from streamjob_planners.verify import ViolationCode, verify


@pytest.fixture
def mixed(turning):
    """Two sides of the world, a node each, whose means are level; and the plan that mixes them, after which they are
    not."""
    model = turning([0] * 4 + [1] * 4, [0] * 4 + [1] * 4, n_nodes=2, task_s=[1.02, 1.0, 1.0, 1.0] * 2)
    return model, plans.make_plan(model, np.array([0, 0, 1, 1] * 2), planner="search", elapsed_s=0.0)


def test_batches_that_are_evened_out_excuse_a_longer_mean(mixed):
    model, plan = mixed
    assert plan.after.batch_s - plan.before.batch_s == pytest.approx(0.04)
    assert facts.series_s(model, model.node_of) - facts.series_s(model, plan.node_of) == pytest.approx(3.98)
    assert verify(model, plan, PlanParams()) == ()


@pytest.mark.parametrize("swings", [None, "nothing"])
def test_without_them_a_longer_mean_is_worse_than_nothing(mixed, swings):
    model, plan = mixed
    still = None if swings is None else np.tile(model.load, (24, 1))
    found = verify(dataclasses.replace(model, load_series=still), plan, PlanParams())
    assert [one.code for one in found] == [ViolationCode.WORSE_THAN_HOLD]
