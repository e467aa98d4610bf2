"""A plan that evens out what swings is worth it where its gain is in both halves of the batches, and only there."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_operator.spec import Balancing
from streamjob_operator.steps import worth_swing
from streamjob_operator.values import Reason
from streamjob_planners import plans
from streamjob_planners.batch.shape import BatchShape
from streamjob_planners.model import GroupId, LoadModel, Plan

WINDOWS, GROUPS = 24, 16


def model(swing: float, windows: int = WINDOWS, noise: float = 0.02, begins: int = 0) -> LoadModel:
    """Two executors with a set each, of which one is hot in every second window, from window `begins` on."""
    rng = np.random.default_rng(1)
    turn = np.where((np.arange(windows)[:, None] % 2 == 0) == (np.arange(GROUPS) < GROUPS // 2), 1.0, -1.0)
    turn[:begins] = 0.0
    series = 5.0 * (1.0 + swing * turn) * rng.lognormal(0.0, noise, turn.shape)
    load = series.mean(axis=0)
    return LoadModel(
        node_ids=("0", "1"),
        capacity=np.ones(2),
        marked=np.zeros(2, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=0, partition=k) for k in range(GROUPS)),
        node_of=(np.arange(GROUPS) >= GROUPS // 2).astype(np.int64),
        load=load,
        migration_cost_s=np.full(GROUPS, 0.01),
        state_bytes=np.zeros(GROUPS),
        pinned=np.zeros(GROUPS, dtype=np.bool_),
        load_series=series,
        batch=BatchShape(
            level=np.zeros(GROUPS, dtype=np.int64),
            task_s=load / 10.0,
            spread_s=np.zeros(GROUPS),
            slots=np.ones(2, dtype=np.int64),
            speed=np.ones(2),
        ),
    )


def mixed(of: LoadModel) -> Plan:
    """Half of each set on either executor."""
    return plans.make_plan(of, np.arange(GROUPS) % 2, planner="clb", elapsed_s=0.0)


def test_a_swing_that_is_evened_out_pays() -> None:
    found = worth_swing.gained(model(0.8), mixed(model(0.8)), Balancing())
    assert found is not None
    assert found[0] is Reason.BATCH_TIME
    assert "the last 24 would have taken 4" in found[1]  # 1.0 in place of 1.8: 44 percent


def test_chance_too_few_windows_and_no_series_do_not() -> None:
    for given in (model(0.0, noise=0.5), model(0.8, windows=8), dataclasses.replace(model(0.8), load_series=None)):
        assert worth_swing.gained(given, mixed(given), Balancing()) is None


def test_what_only_one_half_shows_does_not() -> None:
    late = model(0.8, begins=13)
    assert worth_swing.gained(late, mixed(late), Balancing()) is None


def test_moves_that_are_not_paid_for_in_time_are_not_made() -> None:
    dear = dataclasses.replace(model(0.8), migration_cost_s=np.full(GROUPS, 500.0))
    assert worth_swing.gained(dear, mixed(dear), Balancing()) is None
