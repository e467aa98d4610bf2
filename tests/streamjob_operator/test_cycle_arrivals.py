"""Executors to come have their share before they come; pending moves never hold a changed world up."""

import dataclasses

import pytest
from worlds import World, even, job, warm

from streamjob_agent.wire import Assignment, GroupKey, Pace, QueryStatus
from streamjob_operator.assignment import carried_on, make_assignment
from streamjob_operator.values import Memory, Reason

AUTO = job()
HELD = job(("scaling: {mode: Auto", "scaling: {mode: 'Off'"))


def query_of(world: World) -> QueryStatus:
    return QueryStatus(query_id="query-1", run_id="run-1", name=None, batch_id=1, owners={0: tuple(world.owners)})


def overloaded(of: object = AUTO) -> World:
    return warm(even(2, 6, 15.0), of)


def uneven() -> World:
    world = even(3, 4, 0.0)
    world.loads = [12.0] * 4 + [7.0] * 4 + [2.0] * 4
    return warm(world, HELD)


def test_a_scale_out_says_what_the_coming_executors_will_own() -> None:
    world = overloaded()
    world.arrive = False
    record = world.turn(AUTO)
    arrivals = record.verdict.arrivals
    assert arrivals is not None
    assert (arrivals.executors, set(arrivals.places)) == (1, {1})
    assert len(arrivals.groups) == 4
    assert f"The executor that is to come will own {len(arrivals.groups)} key groups." in record.verdict.message
    assert record.outlook is not None
    assert arrivals.after.max_load == pytest.approx(record.outlook.max_load)
    assert record.snapshot is not None
    wire = make_assignment(record.snapshot, record.verdict, Memory(), query_of(world))
    row = wire.arrivals[0]
    assert [at for at, place in enumerate(row) if place == 1] == sorted(arrivals.groups)
    assert set(wire.known_executors) == set(world.executors)
    assert {key.partition for key in wire.move_order} >= set(arrivals.groups)
    assert all(wire.owners[0][at] == world.owners[at] for at in arrivals.groups)  # until then they stay


def test_a_map_keeps_the_plan_that_goes_on() -> None:
    before = Assignment(
        generation=4,
        application_id="app-1",
        query_id="query-1",
        owners={0: ("0", "1", "9", "2", None)},
        arrivals={0: (None, 1, 2, None, None)},
        known_executors=("0", "1", "2", "9"),
        next_start={0: (1, 2, 1, 2, 1)},
        move_order=(GroupKey(operator=0, partition=1),),
        pace=Pace(max_cost_s=1.0),
    )
    only_removal = Assignment(generation=5, application_id="app-1", query_id="query-1", marked_for_removal=("2",))
    query = QueryStatus(query_id="query-1", run_id="r", name=None, batch_id=1, owners={}, arrived=("11",))
    whole = carried_on(only_removal, before, query, {"0", "1", "11"})
    assert whole.owners == {0: ("0", "11", None, None, None)}  # 9 is gone, 2 is marked
    assert whole.arrivals == {0: (None, None, 1, None, None)}
    assert whole.known_executors == ("0", "1", "2", "9", "11")
    assert whole.next_start == before.next_start
    assert (whole.move_order, whole.pace, whole.generation) == (before.move_order, before.pace, 5)
    another = dataclasses.replace(before, application_id="app-0")
    assert carried_on(only_removal, another, query, {"0"}) == only_removal


def test_the_executor_takes_its_share_without_another_decision() -> None:
    world = overloaded()
    world.turn(AUTO)
    fresh = next(one for one in world.executors if one.startswith("new"))
    assert world.owners.count(fresh) == 4
    assert len(world.assignments) == 1
    assert world.turn(AUTO).verdict.reason is not Reason.FILLING
    assert len(world.assignments) == 1


def test_while_they_are_waited_for_nothing_is_decided_twice() -> None:
    world = overloaded()
    world.arrive = False
    world.turn(AUTO)
    reasons = [world.turn(AUTO).verdict.reason for _ in range(3)]
    assert set(reasons) == {Reason.WAITING_FOR_EXECUTORS}
    assert len(world.assignments) == 1
    assert world.stored.arrivals == 1
    world.come("late")
    world.turn(AUTO)
    assert world.owners.count("late") == 4
    assert (world.stored.arrivals, len(world.assignments)) == (0, 1)


def test_a_lost_executor_that_comes_again_has_a_share() -> None:
    world = warm(even(3, 4, 14.0), AUTO)
    world.arrive = False
    world.turn(AUTO)
    del world.executors["2"]
    world.owners = [owner if owner != "2" else "1" for owner in world.owners]
    record = world.turn(AUTO)
    assert record.verdict.arrivals is not None
    assert world.stored.arrivals == 1
    world.come("again")
    world.pass_time()
    assert world.owners.count("again") == 4


def test_pending_moves_are_waited_for_while_nothing_changed() -> None:
    world = uneven()
    world.moves_per_turn = 0
    assert world.turn(HELD).verdict.act
    assert [world.turn(HELD).verdict.reason for _ in range(3)] == [Reason.MOVES_PENDING] * 3
    assert len(world.assignments) == 1


def test_a_lost_executor_replaces_what_was_not_released() -> None:
    world = uneven()
    world.moves_per_turn = 0
    assert world.turn(HELD).verdict.act
    pending = dict(world.waiting)
    assert pending
    lost = next(iter(pending.values()))
    del world.executors[lost]
    world.owners = [owner if owner != lost else "0" for owner in world.owners]
    record = world.turn(HELD)
    assert record.verdict.act
    assert lost not in world.waiting.values()
    assert world.turn(HELD).verdict.reason is Reason.MOVES_PENDING


def test_a_change_of_the_work_replaces_what_was_not_released() -> None:
    world = uneven()
    world.moves_per_turn = 0
    world.turn(HELD)
    assert world.turn(HELD).verdict.reason is Reason.MOVES_PENDING
    stirred = dataclasses.replace(world.stored, stirred_at_s=world.now_s)
    world.stored = stirred
    record = world.turn(HELD)
    assert record.verdict.act
    assert world.turn(HELD).verdict.reason is Reason.MOVES_PENDING


def test_executors_that_take_their_share_are_not_planned_for_again() -> None:
    world = overloaded()
    world.arrive = False
    world.turn(AUTO)
    share = dict(world.places)
    world.moves_per_turn = 0
    world.come("late")
    reasons = [world.turn(AUTO).verdict.reason for _ in range(3)]  # overloaded, and the new one is empty all the while
    assert set(reasons) == {Reason.MOVES_PENDING}
    assert world.waiting == dict.fromkeys(share, "late")


def test_moves_that_a_person_approves_do_not_hold_the_executors_up() -> None:
    asking = ("mode: Auto\n    planner", "mode: Approve\n    planner")
    of = job(asking)
    world = overloaded(of)
    world.arrive = False
    record = world.turn(of)
    assert (record.verdict.act, record.verdict.executors_target, record.verdict.plan) == (True, 3, None)
    assert record.verdict.pending is not None
    assert "extra-1" in {target for _, target in record.verdict.pending.moves.values()}
    again = world.turn(of)
    assert again.verdict.reason is Reason.AWAITING_APPROVAL
    assert again.verdict.pending == record.verdict.pending
    approved = job(asking, annotations={"streamjob.dev/approve": record.verdict.pending.plan_hash})
    world.turn(approved)
    world.come("late")
    world.pass_time()
    assert world.owners.count("late") == len(record.verdict.pending.moves)
    assert world.stored.pending is None
