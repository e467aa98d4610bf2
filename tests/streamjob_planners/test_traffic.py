"""What traffic is worth, and when it is no reason to plan."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import traffic
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import Objective, PlanParams


def test_a_kilobyte_a_second_between_all_key_groups_is_no_reason_to_move_any(small_model):
    """All of it would pay for one move, but no move makes all of it local."""
    links = {(i, j): 1000.0 / 64 for i in range(8) for j in range(8, 16)}
    model = dataclasses.replace(
        small_model([0, 1] * 8, [1.0] * 16, links, n_nodes=2), migration_cost_s=np.full(16, 0.2)
    )
    assert traffic.worth_planning(model).traffic is None


def test_one_pair_that_pays_keeps_the_traffic(small_model):
    model = dataclasses.replace(
        small_model([0, 1, 0], [1.0] * 3, {(0, 1): 1000.0}, n_nodes=2), migration_cost_s=np.full(3, 0.2)
    )
    assert traffic.worth_planning(model) is model
    assert traffic.worth_planning(model, within_s=60.0).traffic is None


def test_what_becomes_local_is_saved_and_what_becomes_remote_is_lost(small_model):
    model = small_model([0, 1], [1.0, 1.0], {(0, 1): 1e6}, n_nodes=2)
    assert traffic.saved_s(model, np.array([0, 0]), 10.0) == pytest.approx(1.0)
    together = dataclasses.replace(model, node_of=np.array([0, 0]))
    assert traffic.saved_s(together, np.array([0, 1]), 10.0) == pytest.approx(-1.0)


def test_moves_pay_within_batches_or_within_an_hour(small_model):
    model = small_model([0, 1], [1.0, 1.0], n_nodes=2)
    shape = BatchShape(
        level=np.zeros(2, dtype=np.int64),
        task_s=np.array([4.0, 2.0]),
        spread_s=np.zeros(2),
        slots=np.ones(2, dtype=np.int64),
        speed=np.ones(2),
        fixed_s=1.0,
    )
    timed, params = dataclasses.replace(model, batch=shape), PlanParams(payback_batches=10.0)
    assert traffic.payback_s(model, params) == traffic.PAYBACK_S
    assert traffic.payback_s(timed, params) == pytest.approx(50.0)
    by_load = dataclasses.replace(params, objective=Objective.LOAD_DISTANCE)
    assert traffic.payback_s(timed, by_load) == traffic.PAYBACK_S
