"""A mean batch may get longer where the batches themselves get shorter by as much, and nowhere else."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from scipy.optimize import brentq

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


def calmer(model, plan, gain_s):
    """The model with its swings as small as it takes for batches to get shorter by so many seconds."""

    def swinging(part):
        return dataclasses.replace(model, load_series=(1 - part) * model.load + part * model.load_series)

    def gained_s(part):
        calm = swinging(part)
        return facts.series_s(calm, model.node_of) - facts.series_s(calm, plan.node_of)

    return swinging(brentq(lambda part: gained_s(part) - gain_s, 0.0, 1.0))


@pytest.mark.parametrize(("times", "codes"), [(0.6, [ViolationCode.WORSE_THAN_HOLD]), (1.1, [])])
def test_the_mean_may_rise_by_as_much_as_batches_fall_and_no_more(mixed, times, codes):
    model, plan = mixed
    rise_s = plan.after.batch_s - plan.before.batch_s
    found = verify(calmer(model, plan, times * rise_s), plan, PlanParams())
    assert [one.code for one in found] == codes


def test_a_task_without_load_takes_as_long_in_every_batch_and_windows_without_any_tell_nothing(mixed):
    model, _ = mixed
    series = model.load_series.copy()
    series[:, 0] = 0.0
    alone = dataclasses.replace(model, load_series=series)
    padded = dataclasses.replace(model, load_series=np.vstack([series, np.zeros((3, series.shape[1]))]))
    assert facts.series_s(padded, model.node_of) == pytest.approx(facts.series_s(alone, model.node_of))
    shape = dataclasses.replace(model.batch, task_s=model.batch.task_s + np.eye(8)[0])
    longer_task = dataclasses.replace(alone, batch=shape)
    assert facts.series_s(longer_task, model.node_of) > facts.series_s(alone, model.node_of)
    assert facts.series_s(dataclasses.replace(model, load_series=np.zeros((3, 8))), model.node_of) is None


def test_batches_of_the_series_by_hand_on_unequal_nodes(turning):
    model = turning([0, 0, 1, 1], [0, 0, 1, 1], n_nodes=2, task_s=[1.0] * 4)
    shape = dataclasses.replace(model.batch, task_s=np.ones(4), slots=np.array([2, 1]), speed=np.array([1.0, 0.5]))
    light = np.array([[0.1, 0.3, 0.0, 0.2], [0.3, 0.1, 0.0, 0.6], [0.0, 0.0, 0.0, 0.0]])
    found = facts.series_s(dataclasses.replace(model, batch=shape, load_series=light), np.array([0, 0, 0, 1]))
    # Of node 0 (0.5 + 1.5 + 1) / 2 in either batch; of node 1, which is half as fast, 0.5 / 0.5 and 1.5 / 0.5.
    assert found == pytest.approx((1.5 + 3.0) / 2)
