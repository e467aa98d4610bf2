"""While the load rises: what a person approves is what was shown, though a further step is shown by then."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even, job, warm

from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, PendingPlan, Reason

APPROVE = ("scaling: {mode: Auto", "scaling: {mode: Approve, rule: utilization")
BALANCE = ("mode: Auto\n    planner", "mode: Approve\n    planner")
ASKING = job(APPROVE, BALANCE)


def named(plan_hash: str, *changes: tuple[str, str]) -> StreamJob:
    return job(APPROVE, BALANCE, *changes, annotations={"streamjob.dev/approve": plan_hash})


def rising(loads: tuple[float, ...] = (22.0, 30.0)) -> tuple[World, list[PendingPlan]]:
    """Two executors that do too much, and a bit more of it each cycle; with the plans that were shown."""
    world = warm(even(2, 4, loads[0]), ASKING)
    shown = []
    for load in loads:
        world.loads = [load] * 8
        shown.append(asked(world.turn(ASKING)))
    return world, shown


def asked(record: CycleRecord) -> PendingPlan:
    assert record.verdict.reason is Reason.AWAITING_APPROVAL
    assert record.verdict.pending is not None
    return record.verdict.pending


def test_each_cycle_shows_a_further_step() -> None:
    _, shown = rising()
    assert [one.executors_wanted for one in shown] == [3, 4]


def test_the_step_that_was_approved_is_taken_and_the_further_one_asked_about() -> None:
    world, (first, second) = rising()
    record = world.turn(named(first.plan_hash))
    assert (record.verdict.act, record.verdict.reason) == (True, Reason.SCALE_OUT)
    assert record.verdict.message.startswith(
        f"Approved. 3 executors as plan {first.plan_hash} says; now it would be: 4"
    )
    assert record.verdict.executors_target == 3
    carried = record.verdict.arrivals
    assert carried is not None
    assert {f"0/{group}" for group in carried.groups} == {
        name for name, (_, target) in first.moves.items() if target == "extra-1"
    }
    assert (world.stored.executors_target, world.stored.approved_plan) == (3, first.plan_hash)
    assert (world.stored.pending, world.stored.shown) == (None, ())
    later = [world.turn(named(first.plan_hash)) for _ in range(4)]
    further = next(one for one in later if one.verdict.reason is Reason.AWAITING_APPROVAL)
    assert asked(further).executors_wanted > 3
    assert "is approved and does not start" not in further.verdict.message
    assert "another plan" not in further.verdict.message
    assert asked(further).plan_hash != second.plan_hash


def test_the_newest_one_may_be_approved_as_well() -> None:
    world, (_, second) = rising()
    assert world.turn(named(second.plan_hash)).verdict.executors_target == 4


def test_a_plan_that_a_person_just_approved_is_started_in_the_very_cycle_that_would_replace_it() -> None:
    world, (first,) = rising((22.0,))
    world.loads = [30.0] * 8
    record = world.turn(named(first.plan_hash))
    assert (record.verdict.act, record.verdict.executors_target) == (True, 3)


def test_it_is_approvable_for_a_stated_time() -> None:
    world, (first, _) = rising()
    within = ("maxIterations: 1000", "maxIterations: 1000\n    approvableFor: 25s")
    asking = job(APPROVE, BALANCE, within)
    plans = []
    for load in (22.0, 30.0):  # under the policy with the other time
        world.loads = [load] * 8
        plans.append(asked(world.turn(asking)))
    world.pass_time(10.0)
    assert world.turn(named(plans[0].plan_hash, within)).verdict.executors_target == 3
    world, (first, _) = rising()
    world.pass_time(900.0)
    late = world.turn(named(first.plan_hash))
    assert not late.verdict.act
    told = f"The annotation streamjob.dev/approve names {first.plan_hash}, which is another plan: none that waits,"
    assert told in late.verdict.message
    assert late.verdict.message.endswith("replaced less than 15m ago.")


def refused(world: World, of: StreamJob, plan: PendingPlan) -> str:
    record = world.turn(of)
    assert not record.verdict.act
    assert f"Plan {plan.plan_hash} of " in record.verdict.message
    return record.verdict.message


def test_executors_that_are_asked_for_no_more_are_not_started() -> None:
    world, (first, _) = rising()
    world.loads = [16.0] * 8
    message = refused(world, named(first.plan_hash), first)
    assert "does not start: it asks for 3 executors, and now it is so: 2 executors fit" in message


def test_a_scale_in_is_not_started_once_more_are_needed() -> None:
    world = warm(even(4, 4, 5.0), ASKING)
    fewer = asked(world.turn(ASKING))
    assert fewer.executors_wanted < 4
    world.loads = [25.0] * 16
    message = refused(world, named(fewer.plan_hash), fewer)
    assert f"does not start: it asks for {fewer.executors_wanted} executors, and now it is so: 6 executors" in message
    waits = world.stored.pending
    assert waits is not None
    assert f"What may be approved in its place is {waits.plan_hash}." in message
    assert (world.assignments, waits.executors_wanted) == ([], 6)


def test_a_smaller_scale_in_than_today_would_be_is_started_with_its_own_marks() -> None:
    world = warm(even(4, 4, 10.0), ASKING)
    first = asked(world.turn(ASKING))
    assert (first.executors_wanted, len(first.marked)) == (3, 1)
    world.loads = [3.0] * 16
    assert asked(world.turn(ASKING)).executors_wanted < 3
    record = world.turn(named(first.plan_hash))
    assert (record.verdict.act, record.verdict.marked_for_removal) == (True, first.marked)
    assert (world.stored.executors_target, world.stored.marked) == (3, first.marked)
    assert record.model is not None
    assert int(record.model.marked.sum()) == 1


def test_a_larger_scale_in_than_today_would_be_is_not_started() -> None:
    world = warm(even(4, 4, 3.0), ASKING)
    first = asked(world.turn(ASKING))
    assert first.executors_wanted < 3
    world.loads = [10.0] * 16
    assert "and now it is so: 3 executors in place of 4" in refused(world, named(first.plan_hash), first)


def test_an_edit_of_the_job_makes_it_another_one() -> None:
    world, (first, second) = rising()
    edited = ("max: 6}", "max: 5}")
    message = refused(world, named(first.plan_hash, edited), first)
    assert "does not start: the job was edited since it was shown." in message
    assert world.stored.pending is not None
    assert world.stored.pending.plan_hash != second.plan_hash


def test_who_follows_another_scaler_may_change_its_number_again_and_again() -> None:
    asking = job(BALANCE, ("max: 6}", "max: 6, replicas: 3}"))
    world = even(3, 4, 0.0)
    world.loads = [24.0] * 4 + [14.0] * 4 + [4.0] * 4
    warm(world, asking)
    plan = asked(world.turn(asking))
    approved = job(BALANCE, ("max: 6}", "max: 6, replicas: 4}"), annotations={"streamjob.dev/approve": plan.plan_hash})
    verdict = world.turn(approved).verdict
    assert (verdict.act, verdict.executors_target, verdict.pending) == (True, 4, plan)


def test_an_executor_that_was_lost_makes_the_world_another_one() -> None:
    world, (first, _) = rising()
    del world.executors["1"]
    world.owners = ["0"] * 8
    message = refused(world, named(first.plan_hash), first)
    assert "does not start: an executor was lost since it was shown." in message


def test_key_groups_elsewhere_make_it_void() -> None:
    world, (first, _) = rising()
    group = int(next(iter(first.moves)).partition("/")[2])
    world.owners[group] = "1" if world.owners[group] == "0" else "0"
    assert "a key group of it is elsewhere by now" in refused(world, named(first.plan_hash), first)


def test_nothing_starts_without_measurements_or_while_paused() -> None:
    world, (first, _) = rising()
    pages, world.rates = world.rates, {"batches": 0}
    assert world.turn(named(first.plan_hash)).verdict.reason is Reason.METRICS_INCOMPLETE
    world.rates = pages
    paused = job(
        APPROVE, BALANCE, annotations={"streamjob.dev/approve": first.plan_hash, "streamjob.dev/pause": "true"}
    )
    assert world.turn(paused).verdict.reason is Reason.PAUSED
    assert world.turn(named(first.plan_hash)).verdict.act, "and it starts once that is over"


def test_it_waits_for_a_window_to_end_and_says_so() -> None:
    window = (
        "executorTimeout: 60s}",
        'executorTimeout: 60s, windows: [{cron: "20 * * * *", duration: 1m, deny: [Move]}]}',
    )
    world = warm(even(2, 4, 22.0), ASKING)
    first = asked(world.turn(job(APPROVE, BALANCE, window)))
    world.now_s = 1200.0  # twenty past
    message = refused(world, named(first.plan_hash, window), first)
    assert "does not start: Window '20 * * * *' forbids moves. What may be approved in its place is " in message
    world.now_s = 1260.0
    assert world.turn(named(first.plan_hash, window)).verdict.pending == dataclasses.replace(
        first, replaced_at_s=1200.0
    )
    assert world.stored.approved_plan == first.plan_hash


def test_a_wish_that_goes_to_and_fro_shows_the_same_two_plans() -> None:
    world, shown = rising()
    for at in range(6):
        world.loads = [(22.0, 30.0)[at % 2]] * 8
        assert asked(world.turn(ASKING)).plan_hash == shown[at % 2].plan_hash
    assert len(world.stored.shown) == 1


@pytest.mark.parametrize("count", [12])
def test_few_of_them_are_kept(count: int) -> None:
    world, _ = rising()
    for at in range(count):
        world.owners[0] = str(at % 2)  # what was shown before is void
        world.turn(ASKING)
        assert len(world.stored.shown) <= 4
