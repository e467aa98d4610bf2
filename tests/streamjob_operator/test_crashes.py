"""The controller is killed at every step of a drain and started again: it converges, and does nothing twice."""

import itertools

import pytest
from worlds import Crash, World, even, job, warm

from streamjob_operator.values import Memory, Reason

AUTO = job()
PLACES = ("load", "observe", "before actuate", "after actuate", "before save", "after save")
TURNS = 6  # cycles of the undisturbed drain, and a little more


def drained(world: World, cycles: int = 20) -> World:
    for _ in range(cycles):
        try:
            world.turn(AUTO)
        except Crash:
            continue  # the new controller starts from what was saved
    return world


def check(world: World) -> None:
    assert len(world.executors) == 2
    assert len(world.removed) == len(set(world.removed)) == 2
    assert set(world.owners) == set(world.executors)
    moves = [group for group, _ in world.moved]
    assert len(moves) == len(set(moves)), "a key group was moved twice"
    assert world.stored.marked == ()
    assert world.stored.executors_target == 2


def test_the_undisturbed_drain() -> None:
    check(drained(warm(even(4, 4, 5.0), AUTO)))


@pytest.mark.parametrize(("turn", "place"), list(itertools.product(range(TURNS), PLACES)))
def test_killed_once(turn: int, place: str) -> None:
    world = drained(warm(even(4, 4, 5.0), AUTO), turn)
    world.crash_at = {place}
    check(drained(world))


@pytest.mark.parametrize("place", PLACES)
def test_killed_in_every_second_cycle(place: str) -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    for _ in range(TURNS):
        world.crash_at = {place}
        drained(world, 2)
    world.crash_at = set()
    check(drained(world))


@pytest.mark.parametrize("turn", range(1, TURNS))
def test_the_memory_is_lost_in_mid_drain(turn: int) -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    world.moves_per_turn = 2
    drained(world, turn)
    draining = {one for one, state in world.executors.items() if state == "draining"}
    world.stored = Memory()
    world.turn(AUTO)
    assert set(world.stored.marked) == draining
    assert world.stored.generation == world.generation
    world.moves_per_turn = 100
    drained(world)
    assert (len(world.executors), len(world.removed)) == (2, 2)
    assert len(world.removed) == len(set(world.removed))


def test_an_executor_that_dies_in_mid_drain_ends_its_drain() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    world.moves_per_turn = 1
    world.turn(AUTO)
    victim = world.stored.marked[0]
    del world.executors[victim]
    world.owners = [None if owner == victim else owner for owner in world.owners]
    world.moves_per_turn = 100
    drained(world)
    assert victim not in world.removed
    assert len(world.executors) == 2
    assert set(world.owners) == set(world.executors)


def test_a_new_driver_in_mid_drain_starts_without_marks() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    world.moves_per_turn = 1
    world.turn(AUTO)
    assert world.stored.marked
    world.application, world.generation, world.waiting = "app-2", None, {}
    world.executors = dict.fromkeys(world.executors, "ready")
    record = world.turn(AUTO)
    assert record.verdict.reason is Reason.WARMING_UP
    assert world.stored.marked == ()


def test_another_controller_that_wrote_a_newer_generation_is_not_overwritten_blindly() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    world.turn(AUTO)
    world.generation = 40
    world.turn(AUTO)
    assert world.generation == 41
    assert world.stored.generation == 41
