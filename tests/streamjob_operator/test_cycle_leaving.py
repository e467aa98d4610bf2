"""An empty marked executor goes at once, whatever else waits."""

import dataclasses

import pytest
from worlds import World, even, job, warm

from streamjob_operator.ports import Unavailable
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps import solve
from streamjob_operator.values import Hold, Reason

OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")
APPROVE = ("mode: Auto\n    planner", "mode: Approve\n    planner")


def draining(of: StreamJob) -> World:
    """Four executors, of which "3" is marked and empty; the others are uneven."""
    world = even(4, 3, 0.0)
    world.loads = [23.0] * 3 + [14.0] * 3 + [4.0] * 6
    world = warm(world, of)
    world.owners = [owner if owner != "3" else "2" for owner in world.owners]
    world.executors["3"] = "draining"
    world.stored = dataclasses.replace(world.stored, marked=("3",), executors_target=3)
    return world


def test_while_a_plan_waits_for_approval() -> None:
    of = job(APPROVE, OFF)
    world = draining(of)
    record = world.turn(of)
    assert (record.verdict.reason, world.removed) == (Reason.EXECUTOR_REMOVED, ["3"])
    assert record.verdict.pending is not None
    assert world.moved == []
    again = world.turn(of)
    assert (again.verdict.reason, again.verdict.pending) == (Reason.AWAITING_APPROVAL, record.verdict.pending)
    approved = job(APPROVE, OFF, annotations={"streamjob.dev/approve": record.verdict.pending.plan_hash})
    assert world.turn(approved).verdict.act
    assert world.moved


@pytest.mark.parametrize("scaling", ["Auto", "Approve"])
def test_while_balancing_is_off_and_moves_would_pay(scaling: str) -> None:
    of = job(
        ("mode: Auto\n    planner", "mode: 'Off'\n    planner"), ("scaling: {mode: Auto", f"scaling: {{mode: {scaling}")
    )
    world = draining(of)
    verdict = world.turn(of).verdict
    assert (verdict.reason, verdict.remove, world.removed) == (Reason.EXECUTOR_REMOVED, ("3",), ["3"])
    assert "Balancing is off." in verdict.message
    assert world.moved == []


def test_not_while_the_agent_says_that_it_holds_key_groups_which_no_task_has_shown_yet() -> None:
    of = job(OFF)
    world = draining(of)
    world.told = {"3": 2}
    assert world.turn(of).verdict.remove == ()
    world.told = {"3": 0}
    world.turn(of)
    assert world.removed == ["3"]


def test_in_a_window_that_denies_moves() -> None:
    of = job(("down: 0s}", "down: 0s}, windows: [{cron: '* * * * *', duration: 1h, deny: [Move]}]"), OFF)
    world = draining(of)
    assert world.turn(of).verdict.reason is Reason.EXECUTOR_REMOVED
    assert (world.removed, world.moved) == (["3"], [])


def test_while_moves_are_pending_which_go_on() -> None:
    of = job(OFF)
    world = draining(of)
    world.owners[11] = "3"  # not empty yet
    world.moves_per_turn = 0
    world.turn(of)
    assert world.waiting
    world.owners[11] = "2"
    before = {group: target for group, target in world.waiting.items() if group != 11}
    world.waiting = dict(before)
    record = world.turn(of)
    assert (record.verdict.reason, record.verdict.plan, world.removed) == (Reason.EXECUTOR_REMOVED, None, ["3"])
    assert world.waiting == before


def test_while_a_wish_for_fewer_is_not_stable_yet() -> None:
    of = job(("down: 0s", "down: 300s"))
    world = draining(of)
    world.loads = [load / 2 for load in world.loads]
    assert world.turn(of).scaling.reason is Reason.STABILIZING  # type: ignore[union-attr]
    assert world.removed == ["3"]


def test_when_no_plan_can_be_made(monkeypatch: pytest.MonkeyPatch) -> None:
    of = job(OFF)
    world = draining(of)

    def broken(*_: object) -> object:
        raise Hold(Reason.PLANNER_FAILED, "No plan today.")

    monkeypatch.setattr(solve.Solver, "solve", broken)
    record = world.turn(of)
    assert record.verdict.reason is Reason.EXECUTOR_REMOVED
    assert record.verdict.message == "Executor 3 is empty and leaves. No plan today."
    assert world.removed == ["3"]


def test_not_when_nobody_knows_who_is_empty() -> None:
    of = job(OFF)
    world = draining(of)
    world.observe_error = Unavailable("no answer")
    assert world.turn(of).verdict.reason is Reason.METRICS_UNAVAILABLE
    assert world.removed == []


def test_not_while_the_job_is_paused() -> None:
    of = job(OFF)
    world = draining(of)
    paused = job(OFF, annotations={"streamjob.dev/pause": "true"})
    assert world.turn(paused).verdict.reason is Reason.PAUSED
    assert world.removed == []


def test_one_that_is_empty_when_it_is_marked_goes_with_the_same_decision() -> None:
    of = job()
    world = warm(even(4, 4, 5.0), of)
    world.owners = [owner if owner != "3" else "2" for owner in world.owners]
    record = world.turn(of)
    assert record.verdict.reason is Reason.SCALE_IN
    assert "3" in record.verdict.remove
    assert world.removed == ["3"]
