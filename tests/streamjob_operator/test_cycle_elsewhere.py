"""Numbers of executors that somebody else has made: of a driver that was started anew, of a job that nobody scales."""

import pytest
from worlds import World, even, job, warm

from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Reason

UP = ("up: 0s", "up: 30s")
MORE = ("max: 6", "max: 20")
ADOPTED = ("application: {mainFile: job.py}", "applicationRef: {name: clicks}")
SHOWN = ("mode: Auto\n", "mode: Recommend\n")
FREE = pytest.mark.parametrize("mode", ["Recommend", "Off"])


def scaled(mode: str, *changes: tuple[str, str]) -> StreamJob:
    return job(("scaling: {mode: Auto", f"scaling: {{mode: {mode}"), *changes)


def restarted(world: World, executors: int, load: float) -> World:
    """Another driver with so many executors; `load` is that of each key group."""
    world.application, world.generation = "app-2", None
    world.executors = {str(one): "ready" for one in range(executors)}
    world.loads = [load] * len(world.loads)
    world.owners = [str(at % executors) for at in range(len(world.loads))]
    return world


def turns(world: World, of: StreamJob, count: int) -> list[CycleRecord]:
    return [world.turn(of) for _ in range(count)]


@FREE
@pytest.mark.parametrize("rule", ["batch-time", "utilization"])
def test_executors_that_somebody_else_has_added_do_not_leave_once_scaling_is_turned_on(mode: str, rule: str) -> None:
    """They were drained from a job that needed every one of them, as there had been two when it was seen first."""
    ruled = ("scaling: {mode: Auto", f"scaling: {{mode: Auto, rule: {rule}")
    shown = job((ruled[0], f"scaling: {{mode: {mode}, rule: {rule}"), MORE, UP)
    world = warm(even(2, 6, 10.0), shown)
    turns(world, shown, 1)
    turns(restarted(world, 8, 44.0), shown, 2)
    found = turns(world, job(ruled, MORE, UP), 4)
    assert [one.verdict.marked_for_removal for one in found] == [()] * 4
    assert len(world.executors) >= 8


def test_a_recommendation_speaks_of_the_executors_that_there_are() -> None:
    shown = scaled("Recommend", SHOWN)
    world = warm(even(2, 6, 15.0), shown)
    assert "3 executors in place of 2" in world.turn(shown).verdict.message
    after = turns(restarted(world, 3, 15.0), shown, 2)[-1]
    assert after.verdict.reason is Reason.BALANCED
    assert after.verdict.message.startswith("3 executors fit")


@pytest.mark.parametrize("changes", [(), (ADOPTED,)])
def test_executors_that_somebody_else_has_taken_away_are_not_waited_for_for_ever(
    changes: tuple[tuple[str, str], ...],
) -> None:
    shown = scaled("Recommend", SHOWN, *changes)
    world = warm(even(4, 3, 20.0), shown)
    turns(world, shown, 1)
    found = turns(restarted(world, 1, 20.0), shown, 10)
    assert found[2].verdict.reason is Reason.WAITING_FOR_EXECUTORS
    assert found[-1].verdict.reason is Reason.RECOMMENDED
    assert "in place of 1:" in found[-1].verdict.message
    assert world.stored.executors_target == (1 if changes else 4)  # with which our own driver would start again
    assert world.stored.retreat_until_s is None


def test_a_new_driver_is_asked_for_the_executors_that_are_missing_though_no_key_group_may_move() -> None:
    """It starts with as many as somebody else has written; they were given up without anybody having asked for them."""
    of = job(SHOWN)
    world = warm(even(4, 3, 20.0), of)
    turns(world, of, 1)
    found = turns(restarted(world, 2, 20.0), of, 2)[-1]
    assert (found.verdict.act, found.verdict.reason) == (True, Reason.WAITING_FOR_EXECUTORS)
    assert found.verdict.executors_target == 4
    asked = "This driver has not been asked for the others yet, so it is asked now."
    assert found.verdict.message == f"2 of 4 executors are ready. {asked}"
    assert len(world.executors) == 4


def test_a_driver_that_was_asked_once_is_not_asked_again_and_has_the_whole_time() -> None:
    of = job(SHOWN)
    world = warm(even(4, 3, 20.0), of)
    turns(world, of, 1)
    world.arrive = False
    found = turns(restarted(world, 2, 20.0), of, 9)
    assert [one.verdict.act for one in found[1:]] == [True, *[False] * 6, True]
    assert found[-1].verdict.reason is Reason.EXECUTORS_TIMED_OUT


def test_scaling_that_is_turned_on_asks_for_what_is_missing_before_it_gives_it_up() -> None:
    shown = scaled("Recommend", SHOWN)
    world = warm(even(4, 3, 20.0), shown)
    turns(world, shown, 1)
    turns(restarted(world, 1, 20.0), shown, 10)
    found = world.turn(job(SHOWN))
    assert (found.verdict.reason, found.verdict.executors_target) == (Reason.WAITING_FOR_EXECUTORS, 4)


@pytest.mark.parametrize("rule", ["batch-time", "utilization"])
def test_executors_that_are_needed_do_not_leave_while_the_need_for_them_must_last(rule: str) -> None:
    """A new driver with more than were wanted of the one before: these are needed, and were drained until that was so
    for the time that a wish upwards must last."""
    of = job(("scaling: {mode: Auto", f"scaling: {{mode: Auto, rule: {rule}"), MORE, UP)
    world = warm(even(2, 6, 10.0), of)
    turns(world, of, 1)
    found = turns(restarted(world, 8, 44.0), of, 5)
    assert [one.verdict.marked_for_removal for one in found] == [()] * 5
    assert world.stored.executors_target is not None
    assert world.stored.executors_target > 5
