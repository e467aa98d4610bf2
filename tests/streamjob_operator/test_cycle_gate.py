"""What opens the gate and what keeps it shut, where two reasons meet."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even, job, ruled, warm

from streamjob_operator import cycle
from streamjob_operator.steps.approved import judge
from streamjob_operator.steps.case import Case
from streamjob_operator.steps.worth_time import Standing
from streamjob_operator.values import Reason
from streamjob_planners.batch.learned import Learned
from streamjob_planners.model import MoveReason

AUTO = job()
UNSCALED = job(("scaling: {mode: Auto", "scaling: {mode: 'Off'"))
CLOSED_WINDOW = 'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [Move]}]}'
ASKING_BEFORE_SCALING = job(
    ("scaling: {mode: Auto", "scaling: {mode: Approve"), ("executorTimeout: 60s}", CLOSED_WINDOW)
)
DEFAULT_BUDGET = job(
    ("scaling: {mode: Auto", "scaling: {mode: 'Off'"), ("{maxCost: 1h, maxMigrations: 4}", "{maxMigrations: 4}")
)


def uneven(heaviest: float) -> World:
    """Three executors, the first of which has so many points, the others little."""
    world = even(3, 4, 0.0)
    world.loads = [heaviest / 4] * 4 + [3.0] * 4 + [2.0] * 4
    return warm(world, UNSCALED)


@pytest.mark.parametrize(("heaviest", "replaced"), [(99.6, False), (100.4, True)])
def test_moves_under_way_are_replaced_once_an_executor_cannot_do_its_work(heaviest: float, replaced: bool) -> None:
    world = uneven(heaviest)
    world.moves_per_turn = 0
    assert world.turn(UNSCALED).verdict.act
    record = world.turn(UNSCALED)
    assert record.verdict.act is replaced
    assert (record.verdict.reason is Reason.MOVES_PENDING) is not replaced


def test_a_need_for_executors_is_not_kept_waiting_by_moves_under_way() -> None:
    world = warm(even(2, 6, 15.0), AUTO)
    world.moves_pending = 3
    record = world.turn(AUTO)
    assert (record.verdict.act, record.verdict.reason) == (True, Reason.SCALE_OUT)
    assert record.verdict.executors_target == 3


@pytest.mark.parametrize(("rule", "marked"), [("utilization", 2), ("batch-time", 1)])
def test_a_scale_in_replaces_moves_under_way_with_those_that_empty_the_executor(rule: str, marked: int) -> None:
    """Two would be busy to 60 percent: too near to 70 while nobody knows how sure the rate is."""
    of = ruled(rule)
    world = warm(even(4, 3, 10.0), of)
    world.moves_pending = 3
    verdict = world.turn(of).verdict
    assert (verdict.act, verdict.reason) == (True, Reason.SCALE_IN)
    assert verdict.plan is not None
    assert len(verdict.marked_for_removal) == marked
    assert {move.reason for move in verdict.plan.moves} == {MoveReason.DRAIN}


def test_executors_that_a_person_approves_are_asked_about_while_a_window_forbids_moves() -> None:
    world = warm(even(2, 6, 15.0), ASKING_BEFORE_SCALING)
    record = world.turn(ASKING_BEFORE_SCALING)
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.AWAITING_APPROVAL)
    assert record.verdict.pending is not None
    assert record.verdict.pending.executors_wanted == 3
    assert record.verdict.pending.moves == {}
    assert world.assignments == []


def test_a_boundary_may_get_longer_by_a_part_of_the_batch_that_is_predicted() -> None:
    world = uneven(60.0)
    world.rates = {"mean_batch_s": 15.0}  # of odd batches: what is predicted goes by the key groups
    verdict = world.turn(DEFAULT_BUDGET).verdict
    assert verdict.plan is not None
    assert verdict.plan.before.expected_s is not None
    assert verdict.plan.before.expected_s < 10.0
    assert verdict.boundary_s == pytest.approx(0.1 * verdict.plan.before.expected_s)


def test_doubt_about_predicted_batches_is_told_where_they_are_not_trusted_and_only_there() -> None:
    trusting = uneven(60.0)
    for _ in range(4):
        told = trusting.turn(UNSCALED).verdict.message
        assert "Predicted batches are off" not in told
    assert trusting.stored.batches.error_ratio is not None
    doubting = uneven(60.0)
    for number in range(8):  # batches take what no task tells
        doubting.rates = {"mean_batch_s": 50.0 if number % 2 else 1.0}
        told = doubting.turn(UNSCALED).verdict.message
    assert not doubting.stored.batches.trusted
    assert "Predicted batches are off by" in told


def test_gains_are_held_to_what_predictions_have_been_off_by(monkeypatch: pytest.MonkeyPatch) -> None:
    cases: list[Case] = []
    monkeypatch.setattr(cycle, "judge", lambda case: cases.append(case) or judge(case))
    of = job()
    world = warm(even(2, 2, 10.0), of)
    assert world.stored is not None
    off = dataclasses.replace(world.stored.batches, error_ratio=Learned(mean=0.03, weight=5.0))
    world.stored = dataclasses.replace(world.stored, batches=off)
    world.turn(of)
    assert [case.standing for case in cases] == [Standing(off=pytest.approx(cases[0].memory.batches.off))]
    assert cases[0].standing.off > 0.0
