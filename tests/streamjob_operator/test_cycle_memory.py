"""Memory of state as a limit of the cycle's plans: what it keeps back, and what is said about it."""

from __future__ import annotations

import pytest
from worlds import World, job, warm

from streamjob_operator.values import Reason

MIB = 1024.0**2
SCALING_OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")
UNSCALED = job(SCALING_OFF)


def apart(limit: float | None = 512 * MIB) -> World:
    """Two key groups with much state on two executors. Together they would leave the other one to the busy group."""
    return World(
        loads=[30.0, 20.0, 50.0],
        owners=["0", "1", "1"],
        executors={"0": "ready", "1": "ready"},
        state_memory=[300 * MIB, 300 * MIB, MIB],
        state_limit=limit,
    )


@pytest.mark.parametrize("planner", ["greedy", "search", "milp", "albic"])
def test_groups_that_have_no_room_together_stay_apart_and_the_reason_says_so(planner: str) -> None:
    of = job(SCALING_OFF, ("planner: greedy", f"planner: {planner}"))
    world = apart()
    verdict = warm(world, of).turn(of).verdict
    assert (verdict.act, verdict.reason) == (False, Reason.MEMORY_TOO_SMALL)
    assert (
        "Moves are kept back by memory: executor 0 has room for 212 MiB of state, key group 1 of operator 0 needs "
        "300 MiB. Executors with more memory have room for it"
    ) in verdict.message
    assert world.assignments == []


@pytest.mark.parametrize("limit", [None, 700 * MIB])
def test_with_room_or_where_nobody_tells_a_limit_they_move(limit: float | None) -> None:
    world = apart(limit)
    assert warm(world, UNSCALED).turn(UNSCALED).verdict.reason is Reason.BATCH_TIME
    world.turn(UNSCALED)
    assert world.owners == ["0", "0", "1"]


def test_a_balanced_job_is_not_said_to_lack_memory() -> None:
    world = apart()
    world.loads = [50.0, 25.0, 25.0]
    verdict = warm(world, UNSCALED).turn(UNSCALED).verdict
    assert verdict.reason is Reason.BALANCED
    assert "memory" not in verdict.message


def test_an_executor_above_its_limit_may_lose_and_get_nothing() -> None:
    world = apart(limit=200 * MIB)
    world.loads, world.owners = [40.0, 40.0, 20.0], ["0", "0", "1"]
    verdict = warm(world, UNSCALED).turn(UNSCALED).verdict
    assert verdict.reason is Reason.MEMORY_TOO_SMALL
    world.state_memory = [300 * MIB, 150 * MIB, MIB]
    assert world.turn(UNSCALED).verdict.reason is Reason.BATCH_TIME
    world.turn(UNSCALED)
    assert world.owners == ["0", "1", "1"]


def test_executors_that_state_needs_are_not_taken_away() -> None:
    of = job()
    world = World(
        loads=[5.0] * 6,
        owners=["0", "0", "1", "1", "2", "2"],
        executors=dict.fromkeys("012", "ready"),
        state_memory=[100 * MIB] * 6,
        state_limit=250 * MIB,
    )
    verdict = warm(world, of).turn(of).verdict
    assert not verdict.act
    assert "600 MiB of state, 250 MiB in each executor's memory" in verdict.message
    world.state_limit = 400 * MIB
    assert world.turn(of).verdict.reason is Reason.SCALE_IN
    for _ in range(4):
        world.turn(of)
    assert len(world.executors) == 2
    assert sorted(world.owners.count(one) for one in world.executors) == [3, 3]


def test_fewer_executors_that_hold_the_sum_but_not_the_groups_are_refused() -> None:
    of = job()
    world = World(
        loads=[5.0] * 3,
        owners=["0", "1", "2"],
        executors=dict.fromkeys("012", "ready"),
        state_memory=[260 * MIB] * 3,
        state_limit=500 * MIB,
    )
    verdict = warm(world, of).turn(of).verdict
    assert (verdict.act, verdict.reason) == (False, Reason.MEMORY_TOO_SMALL)
    assert "With fewer executors there is no room in memory for 1 key groups' state." in verdict.message


def test_an_executor_that_somebody_marks_is_drained_as_far_as_there_is_room() -> None:
    of = job(("executors: {min: 1, max: 6}", "executors: {min: 1, max: 6, replicas: 1}"))
    world = apart()
    record = warm(world, of).turn(of)
    assert record.verdict.reason is Reason.SCALE_IN
    for _ in range(3):
        verdict = world.turn(of).verdict
    assert verdict.reason is Reason.MEMORY_TOO_SMALL
    assert len(set(world.owners)) == 2, "what has no room stays where it is"
    assert world.removed == []
