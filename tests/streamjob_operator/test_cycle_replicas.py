"""spec.executors.replicas: somebody else, such as an HPA or `kubectl scale`, sets the number of executors."""

import pytest
from worlds import World, even, job, warm

from streamjob_operator.spec import StreamJob
from streamjob_operator.values import Reason

PLAIN = "executors: {min: 1, max: 6}"


def told(replicas: int, scaling: str = "Off", *changes: tuple[str, str]) -> StreamJob:
    asked = (PLAIN, f"executors: {{min: 1, max: 6, replicas: {replicas}}}")
    return job(asked, ("scaling: {mode: Auto", f"scaling: {{mode: {scaling}"), *changes)


def run(world: World, cycles: int, of: StreamJob) -> list[Reason]:
    return [world.turn(of).verdict.reason for _ in range(cycles)]


@pytest.mark.parametrize("scaling", ["Off", "Recommend", "Approve", "Auto"])
def test_executors_come_and_go_as_told_in_every_mode_of_scaling(scaling: str) -> None:
    world = warm(even(2, 6, 5.0), told(2))
    assert run(world, 1, told(4, scaling)) == [Reason.SCALE_OUT]
    run(world, 6, told(4, scaling))
    assert len(world.executors) == 4
    assert run(world, 1, told(3, scaling)) == [Reason.SCALE_IN]
    run(world, 8, told(3, scaling))
    assert len(world.executors) == 3
    assert set(world.owners) == set(world.executors)


def test_our_own_rule_has_no_say() -> None:
    world = warm(even(2, 6, 15.0), told(2))  # it would ask for three, see test_cycle_scaling
    assert run(world, 3, told(2))[-1] is Reason.REPLICAS_SET
    assert len(world.executors) == 2


@pytest.mark.parametrize(("replicas", "there"), [(0, 1), (99, 6)])
def test_min_and_max_hold(replicas: int, there: int) -> None:
    world = warm(even(2, 6, 5.0), told(replicas))
    run(world, 16, told(replicas))
    assert len(world.executors) == there


def test_neither_stabilisation_nor_an_uneven_rest_holds_it_up() -> None:
    slow = ("up: 0s, down: 0s", "up: 1h, down: 1h")
    world = warm(even(3, 4, 5.0), told(3))
    world.loads[0] = 90.0
    assert run(world, 1, told(2, "Auto", slow)) == [Reason.SCALE_IN]


def test_executors_that_do_not_come_are_given_up_for_a_while() -> None:
    world = warm(even(2, 6, 5.0), told(2))
    world.arrive = False
    reasons = run(world, 9, told(4))
    assert Reason.EXECUTORS_TIMED_OUT in reasons
    assert Reason.SCALE_OUT not in reasons[reasons.index(Reason.EXECUTORS_TIMED_OUT) :]
