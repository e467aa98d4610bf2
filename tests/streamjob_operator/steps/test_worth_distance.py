"""By load distance: from which gain on moves are made, what is tolerated, and what a person is told."""

from __future__ import annotations

import dataclasses
import re

import numpy as np
import pytest
from small_models import flags, moved, placed

from streamjob_operator.spec import Balancing
from streamjob_operator.steps import worth_distance
from streamjob_operator.values import Reason
from streamjob_planners.model import LoadModel, Plan

LIMITED = Balancing()  # 10 points are tolerated
DISTANT = Reason.LOAD_DISTANCE
BUDGET = "but no key group may move: all are pinned or above the budget."


def uneven(points: float, light: int = 20, load: float = 0.0) -> LoadModel:
    """Executor 0 is so many points above the mean, executor 1 below; `light` key groups on 0 have so much load."""
    heavy = 60.0 + points - light * load
    return placed([heavy, 60.0 - points, *[load] * light], [0, 1, *[0] * light])


def with_moves(model: LoadModel, count: int) -> Plan:
    """The first of the light key groups go to the other executor."""
    return moved(model, [0, 1, *[1] * count, *[0] * (model.n_groups - 2 - count)])


@pytest.mark.parametrize(
    ("load", "moves", "pays"),
    [
        (0.5, 1, False),  # half a point in all is noise
        (0.625, 1, True),
        (0.0625, 8, False),
        (0.0625, 16, True),  # 1.0 for sixteen moves
        (0.03125, 20, False),  # 0.625, and twenty moves must gain more than 1.0
        (0.0625, 20, True),
    ],
)
def test_a_plan_must_gain_half_a_point_and_each_of_its_moves_a_twentieth(load: float, moves: int, pays: bool) -> None:
    model = uneven(20.0, load=load)
    assert (worth_distance.gained(model, with_moves(model, moves), LIMITED) is not None) is pays


def test_what_is_gained_is_said() -> None:
    model = uneven(20.0, load=2.0)
    found = worth_distance.gained(model, with_moves(model, 3), LIMITED)
    assert found == (DISTANT, "Load distance from 20.0 to 14.0 with 3 moves.")


@pytest.mark.parametrize("points", [9.5, 10.0])
def test_up_to_its_limit_a_distance_is_tolerated(points: float) -> None:
    model = uneven(points, load=1.0)
    plan = with_moves(model, 5)
    assert worth_distance.gained(model, plan, LIMITED) is None
    tolerated = (Reason.BALANCED, f"Load distance {points:.1f}, up to 10 is tolerated.")
    assert worth_distance.not_gained(model, plan, LIMITED) == tolerated


def test_half_a_point_above_its_limit_it_is_not() -> None:
    model = uneven(10.5, load=1.0)
    assert worth_distance.gained(model, with_moves(model, 1), LIMITED) is not None


def test_a_plan_without_moves_gains_nothing() -> None:
    model = uneven(20.0)
    better = dataclasses.replace(moved(model, model.node_of.tolist()).after, load_distance=1.0)
    plan = dataclasses.replace(moved(model, model.node_of.tolist()), after=better)
    assert worth_distance.gained(model, plan, LIMITED) is None


def test_too_little_is_said_with_what_is_needed_and_what_the_planner_noted() -> None:
    model = uneven(20.0, load=0.0625)
    noted = dataclasses.replace(with_moves(model, 4), notes=("One.", "Two."))
    message = "Load distance 20.0; 4 moves would gain 0.2, more than 0.5 is needed. One. Two."
    assert worth_distance.not_gained(model, noted, LIMITED) == (Reason.GAIN_TOO_SMALL, message)


def test_no_moves_at_all_are_said_as_such() -> None:
    model = uneven(20.0)
    plan = dataclasses.replace(with_moves(model, 0), notes=())
    message = "Load distance 20.0; no moves were found that gain 0.05 each and 0.5 together."
    assert worth_distance.not_gained(model, plan, LIMITED) == (Reason.GAIN_TOO_SMALL, message)


def test_where_no_key_group_may_move_that_is_said() -> None:
    model = dataclasses.replace(uneven(20.0), pinned=np.ones(22, dtype=np.bool_))
    found = worth_distance.not_gained(model, with_moves(model, 0), LIMITED)
    assert found == (Reason.BUDGET_TOO_SMALL, f"Load distance 20.0, {BUDGET}")
    assert worth_distance.not_gained(model, with_moves(model, 1), LIMITED)[0] is Reason.GAIN_TOO_SMALL


@pytest.mark.parametrize(("limit", "fits"), [("199", False), ("200", True), ("201", True)])
def test_the_smallest_key_group_that_may_move_must_be_within_the_budget(limit: str, fits: bool) -> None:
    sizes = np.array([100.0, 200.0, 300.0])
    model = placed([1.0] * 3, [0, 0, 1], state_bytes=sizes, pinned=flags(3, 0))
    limited = Balancing.model_validate({"migrationBudget": {"maxStateBytes": limit}})
    assert worth_distance.affordable(model, limited) is fits
    assert worth_distance.affordable(model, LIMITED)


def noisy(points: float, error: float) -> LoadModel:
    """As above with 20 light key groups of 2 points each, each measured with so much of an error."""
    return dataclasses.replace(uneven(points, load=2.0), load_error=np.full(22, error))


@pytest.mark.parametrize(("error", "pays"), [(0.01, True), (3.0, False)])
def test_a_gain_must_be_more_than_noise_explains(error: float, pays: bool) -> None:
    model = noisy(20.0, error)
    assert (worth_distance.gained(model, with_moves(model, 5), LIMITED) is not None) is pays


def test_that_a_gain_may_be_noise_is_said() -> None:
    model = noisy(20.0, 3.0)
    reason, message = worth_distance.not_gained(model, with_moves(model, 5), LIMITED)
    assert reason is Reason.GAIN_TOO_SMALL
    assert re.fullmatch(
        r"Load distance 20.0; 5 moves would gain 10.0, and up to \d+.\d may be noise of what was measured.", message
    )


def test_a_gain_as_large_as_its_price_is_told_as_too_small() -> None:
    model = uneven(20.0, load=0.5)
    reason, message = worth_distance.not_gained(model, with_moves(model, 1), LIMITED)
    assert reason is Reason.GAIN_TOO_SMALL
    assert message.startswith("Load distance 20.0; 1 move would gain 0.5, more than 0.5 is needed.")


@pytest.mark.parametrize(("doubt", "pays"), [(3.0, False), (2.9, True)])
def test_a_gain_no_larger_than_noise_may_make_is_none(
    monkeypatch: pytest.MonkeyPatch, doubt: float, pays: bool
) -> None:
    monkeypatch.setattr(worth_distance, "distance_doubt", lambda model, node_of: doubt)
    model = uneven(20.0, load=1.0)
    assert (worth_distance.gained(model, with_moves(model, 3), LIMITED) is not None) is pays
