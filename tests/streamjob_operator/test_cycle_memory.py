"""Memory of state as a limit of the cycle's plans: what it keeps back, and what is said about it."""

from __future__ import annotations

import pytest
from worlds import World, job, ruled, warm

from streamjob_operator.values import Advice, MemoryAdvice, Reason

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


@pytest.mark.parametrize("rule", ["batch-time", "utilization"])
def test_executors_that_state_needs_are_not_taken_away(rule: str) -> None:
    of = ruled(rule)
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


def roomy(use: list[float], limit: float) -> World:
    """Key groups side by side on two executors, as busy as each other."""
    owners: list[str | None] = [str(at % 2) for at in range(len(use))]
    ready = dict.fromkeys("01", "ready")
    return World(loads=[10.0] * len(use), owners=owners, executors=ready, state_memory=use, state_limit=limit)


def advised(world: World) -> MemoryAdvice | None:
    return warm(world, UNSCALED).turn(UNSCALED).memory_advice


def test_executors_too_small_for_the_plan_get_advice_with_its_arithmetic() -> None:
    found = advised(roomy([120 * MIB] * 4, 250 * MIB))
    assert found is not None
    assert found.code is Advice.MEMORY_SHORT
    assert found.message == (
        "With the newest plan executor 0 holds 240 MiB of state; with a tenth to spare that takes 267 MiB, and "
        "executors have 250 MiB for it. Either 16.7 MiB more memory for each of them, or 3 executors of today's size "
        "or more (480 MiB of state / 225 MiB = 3 at least)."
    )


def test_a_key_group_that_is_too_large_for_any_executor_is_named() -> None:
    found = advised(roomy([240 * MIB, 100 * MIB], 250 * MIB))
    assert found is not None
    assert "more executors would not do, as key group 0 of operator 0 alone takes 240 MiB." in found.message


def test_executors_that_fit_and_those_that_do_not_tell_get_no_advice() -> None:
    assert advised(roomy([100 * MIB] * 4, 250 * MIB)) is None
    world = roomy([120 * MIB] * 4, 250 * MIB)
    world.state_memory = None
    assert advised(world) is None
    silent = roomy([120 * MIB] * 4, 250 * MIB)
    silent.state_limit = None
    assert advised(silent) is None


@pytest.mark.parametrize(("used", "told"), [(1000.0, True), (2000.0, False)])
def test_executors_much_too_large_are_told_by_what_they_ever_used(used: float, told: bool) -> None:
    world = roomy([MIB] * 4, 3000 * MIB)
    world.process = (used * MIB, 4096 * MIB)
    found = advised(world)
    assert (found is not None) is told
    if found is not None:
        assert found.code is Advice.MEMORY_SPARE
        assert found.message == (
            "No executor has used more than 1000 MiB of 4 GiB since it began, and the newest plan adds 0 B of state; "
            "with a tenth to spare 1.09 GiB for each would do."
        )
