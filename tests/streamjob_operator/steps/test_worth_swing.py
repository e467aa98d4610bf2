"""A plan that evens out what swings is worth it where its gain is in both halves of the batches, and only there."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

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


def test_what_only_one_half_shows_does_not_even_if_moves_are_free() -> None:
    late = model(0.8, begins=13)
    for given in (late, dataclasses.replace(late, migration_cost_s=np.zeros(GROUPS))):
        assert worth_swing.gained(given, mixed(given), Balancing()) is None


def test_a_half_without_work_speaks_against_nothing() -> None:
    rows = model(0.8, noise=0.0).load_series
    assert rows is not None
    slept = dataclasses.replace(model(0.8), load_series=np.where(np.arange(WINDOWS)[:, None] < 12, 0.0, rows))
    assert worth_swing.gained(slept, mixed(slept), Balancing()) is not None


def sized(share: float, fixed_s: float = 0.0, move_s: float = 0.01, swing: float = 0.8) -> LoadModel:
    """Batches of 4 s, or that share of it, beside what is fixed; four moves to either executor, one after another."""
    whole = model(swing, noise=0.0)
    assert whole.load_series is not None
    assert whole.batch is not None
    batch = dataclasses.replace(whole.batch, task_s=share * whole.batch.task_s, fixed_s=fixed_s)
    return dataclasses.replace(
        whole,
        batch=batch,
        load=share * whole.load,
        load_series=share * whole.load_series,
        migration_cost_s=np.full(GROUPS, move_s),
    )


@pytest.mark.parametrize("share", [1.0, 0.01])
@pytest.mark.parametrize(("swing", "percent"), [(0.8, 44), (0.84, 46)])
def test_what_would_have_been_saved_is_said_however_little_there_was_to_do(
    share: float, swing: float, percent: int
) -> None:
    little = sized(share, move_s=0.0, swing=swing)
    found = worth_swing.gained(little, mixed(little), Balancing())
    assert found is not None
    assert found[1] == (
        f"Loads swing from batch to batch: the last 24 would have taken {percent} percent less in both halves of them; "
        "8 moves cost 0 s once."
    )


@pytest.mark.parametrize(
    ("share", "fixed_s", "move_s", "pays"),
    [
        (1.0, 0.0, 4.2, True),  # 17.8 s are saved in ten batches, moves cost 16.8 s
        (1.0, 0.0, 4.7, False),
        (1.0, 10.0, 4.2, True),
        (1.0, 10.0, 4.7, False),  # nothing is saved of what is fixed
        (0.1, 0.0, 0.42, True),
        (0.1, 0.0, 0.47, False),
    ],
)
def test_moves_must_be_paid_for_by_what_is_saved_of_the_batches(
    share: float, fixed_s: float, move_s: float, *, pays: bool
) -> None:
    at_once = Balancing.model_validate({"migrationBudget": {"maxCost": "1h"}})
    given = sized(share, fixed_s, move_s)
    assert (worth_swing.gained(given, mixed(given), at_once) is not None) is pays


def test_moves_may_cost_all_that_is_saved_in_time() -> None:
    at_once = Balancing.model_validate({"migrationBudget": {"maxCost": "1h"}})
    half = sized(1.0, move_s=5.0, swing=1.0)  # 2 s of each batch, and 20 s for moves
    assert worth_swing.gained(half, mixed(half), at_once) is not None


def test_moves_that_are_not_paid_for_in_time_are_not_made() -> None:
    dear = dataclasses.replace(model(0.8), migration_cost_s=np.full(GROUPS, 500.0))
    assert worth_swing.gained(dear, mixed(dear), Balancing()) is None
