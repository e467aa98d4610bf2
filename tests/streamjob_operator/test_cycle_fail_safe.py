"""Measurements that are missing for long, through the whole cycle: hold, out only, the floor, and never in."""

from __future__ import annotations

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from worlds import World, even, job, warm

from streamjob_operator.codec import decode, encode
from streamjob_operator.memory import from_json, to_json
from streamjob_operator.outage import Rung
from streamjob_operator.ports import Incomplete, Stale, Unavailable
from streamjob_operator.sight import Longer
from streamjob_operator.spec import StreamJob
from streamjob_operator.values import CycleRecord, Reason

GONE = Unavailable("nobody answers.")
LADDER = ("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 20s, floorAfter: 40s, floor: 4}}")
SAFE = job(LADDER)
CLOSED = 'windows: [{cron: "* * * * *", duration: 1m, deny: [ScaleUp]}]'
OUT = job(("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 20s}}"))


def gone(world: World, error: Exception | None = GONE) -> World:
    world.observe_error = error
    return world


def turns(world: World, cycles: int, of: StreamJob = SAFE) -> list[CycleRecord]:
    return [world.turn(of) for _ in range(cycles)]


def fitting() -> World:
    """Two executors that fit their load."""
    world = warm(even(2, 6, 10.0), SAFE)
    assert world.turn(SAFE).verdict.reason is Reason.BALANCED
    return world


def test_by_default_nothing_is_changed_however_long_measurements_are_missing() -> None:
    world = warm(even(2, 6, 10.0), job())
    world.turn(job())
    records = turns(gone(world), 20, job())
    assert {one.verdict.reason for one in records} == {Reason.METRICS_UNAVAILABLE}
    assert {one.verdict.message for one in records} == {"nobody answers."}
    assert world.assignments == []


def test_hold_then_out_only_then_the_floor() -> None:
    world = gone(fitting())
    records = turns(world, 6)
    assert [one.verdict.reason for one in records] == [Reason.METRICS_UNAVAILABLE] * 4 + [
        Reason.FAIL_SAFE_FLOOR,
        Reason.METRICS_UNAVAILABLE,
    ]
    assert [one.memory.outage.rung for one in records if one.memory and one.memory.outage] == [
        *[Rung.HOLD] * 2,
        *[Rung.OUT_ONLY] * 2,
        *[Rung.FLOOR] * 2,
    ]
    assert records[2].verdict.message == (
        "nobody answers. Measurements have been missing for 20s: executors may come, and none leaves; 2 executors "
        "stay, as nothing that can be seen asks for more."
    )
    assert records[4].verdict.message == (
        "Measurements have been missing for 40s: executors may come, 4 at least, and none leaves. 4 executors in place "
        "of 2, as failSafe.floor is 4. nobody answers. 4 key groups go to executors without any, by their number alone."
    )
    assert len(world.executors) == 4


def test_executors_that_come_without_measurements_get_as_many_key_groups_as_the_others() -> None:
    free = job(LADDER, ("maxMigrations: 4", "maxMigrations: 40"))
    world = gone(fitting())
    turns(world, 6, free)
    assert sorted(world.owners.count(one) for one in world.executors) == [3, 3, 3, 3]


def test_the_migration_budget_holds_without_measurements_too() -> None:
    world = gone(fitting())
    turns(world, 6)
    assert sorted(world.owners.count(one) for one in world.executors) == [2, 2, 4, 4]


def test_nothing_that_was_not_measured_is_told_as_if_it_were() -> None:
    world = gone(fitting())
    record = turns(world, 5)[-1]
    assert record.receipt is not None
    assert record.receipt.accepted
    assert (record.snapshot, record.model, record.verdict.plan) == (None, None, None)
    assert record.memory is not None
    assert (record.memory.predicted_distance, record.memory.moved) == (None, None)


def test_more_that_were_needed_when_measurements_ended_are_asked_for() -> None:
    slow = job(LADDER, ("up: 0s", "up: 10m"))
    world = warm(even(2, 6, 15.0), slow)
    assert world.turn(slow).verdict.reason is Reason.STABILIZING
    records = turns(gone(world), 3, slow)
    assert records[2].verdict.reason is Reason.FAIL_SAFE_OUT
    assert "3 executors in place of 2, as 3 were needed when measurements ended." in records[2].verdict.message
    assert len(world.executors) == 3


def test_batches_that_take_longer_since_are_a_sign_that_counts_once() -> None:
    world = gone(fitting())
    world.longer = Longer(ratio=1.4, ended_at_s=world.now_s + 5.0)
    turns(world, 10, OUT)
    assert len(world.executors) == 3
    world.longer = Longer(ratio=9.0, ended_at_s=world.now_s)
    turns(world, 10, OUT)
    assert len(world.executors) == 4, "twice as many as there were, at most"


def test_batches_that_were_longer_before_say_nothing() -> None:
    world = gone(fitting())
    world.longer = Longer(ratio=2.0, ended_at_s=world.now_s - 1.0)
    turns(world, 10, OUT)
    assert len(world.executors) == 2


def test_more_executors_than_the_floor_stay() -> None:
    world = warm(even(5, 2, 30.0), SAFE)
    world.turn(SAFE)
    turns(gone(world), 10)
    assert len(world.executors) == 5
    assert world.assignments == []


def test_the_floor_is_kept_within_max() -> None:
    few = job(LADDER, ("max: 6", "max: 3"))
    world = warm(even(2, 6, 10.0), few)
    turns(world, 1, few)
    turns(gone(world), 10, few)
    assert len(world.executors) == 3


def test_a_drain_is_taken_back_before_others_are_asked_for_and_goes_on_otherwise() -> None:
    world = warm(even(4, 4, 5.0), SAFE)
    world.moves_per_turn = 0
    assert world.turn(SAFE).verdict.reason is Reason.SCALE_IN
    records = turns(gone(world), 5)
    assert all(not one.verdict.remove for one in records)
    assert records[4].verdict.reason is Reason.FAIL_SAFE_FLOOR
    assert records[4].verdict.marked_for_removal == ()
    assert set(world.executors.values()) == {"ready"}
    assert len(world.executors) == 4


def test_one_that_came_in_place_of_a_lost_one_gets_a_share() -> None:
    world = gone(fitting())
    del world.executors["1"]
    world.owners = ["0"] * 12
    world.executors["2"] = "ready"
    records = turns(world, 4, OUT)
    assert records[2].verdict.reason is Reason.FAIL_SAFE_OUT
    assert "2 executors stay." in records[2].verdict.message
    assert sorted(world.owners.count(one) for one in world.executors) == [4, 8]


@pytest.mark.parametrize(
    ("of", "said"),
    [
        (job(LADDER, ("scaling: {mode: Auto", "scaling: {mode: Recommend")), "recommended: 4 executors"),
        (job(LADDER, annotations={"streamjob.dev/pause": "true"}), "the job is paused"),
        (job((LADDER[0], f"{LADDER[1][:-1]}, {CLOSED}}}")), "forbids more"),
    ],
)
def test_who_may_not_change_executors_does_not_do_so_without_measurements(of: StreamJob, said: str) -> None:
    world = warm(even(2, 6, 10.0), of)
    world.turn(of)
    record = turns(gone(world), 8, of)[-1]
    assert record.verdict.reason is Reason.METRICS_UNAVAILABLE
    assert said in record.verdict.message
    assert world.assignments == []


@pytest.mark.parametrize(
    "change", [("scaling: {mode: Auto", "scaling: {mode: 'Off'"), ("max: 6}", "max: 6, replicas: 2}")]
)
def test_somebody_elses_number_has_no_ladder(change: tuple[str, str]) -> None:
    of = job(LADDER, change)
    world = warm(even(2, 6, 10.0), of)
    world.turn(of)
    records = turns(gone(world), 8, of)
    assert {one.verdict.message for one in records} == {"nobody answers."}


def test_an_agent_that_is_not_heard_either_is_told() -> None:
    world = gone(fitting())
    world.heard = False
    record = turns(world, 8)[-1]
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.METRICS_UNAVAILABLE)
    assert "the agent is not heard either, so nothing can be asked for" in record.verdict.message


def test_key_groups_stay_where_balancing_may_not_move_them() -> None:
    of = job(LADDER, ("mode: Auto\n", "mode: Recommend\n"))
    world = warm(even(2, 6, 10.0), of)
    world.turn(of)
    turns(gone(world), 8, of)
    assert len(world.executors) == 4
    assert world.moved == []


def test_measurements_that_come_and_go_do_not_begin_the_ladder_anew() -> None:
    # Cycles come twice in a period here, so that one good one is not a whole period.
    patient = job(LADDER, ("statisticsPeriod: 10s", "statisticsPeriod: 20s"))
    world = even(2, 6, 10.0)
    turns(world, 4, patient)
    for at in range(6):
        world.observe_error = None if at % 3 == 2 else GONE
        record = world.turn(patient)
    assert record.memory is not None
    assert record.memory.outage is not None
    assert record.memory.outage.rung is Rung.FLOOR
    assert len(world.executors) == 4


def test_after_the_ladder_none_leaves_within_the_stabilisation() -> None:
    slow = job(LADDER, ("down: 0s", "down: 60s"))
    world = warm(even(2, 6, 10.0), slow)
    world.turn(slow)
    turns(gone(world), 6, slow)
    gone(world, None)
    records = turns(world, 20, slow)
    reasons = [one.verdict.reason for one in records]
    # A period until the ladder is left, and the stabilisation after it.
    assert reasons.index(Reason.SCALE_IN) == 7
    assert "measurements were missing for long, so none leaves for another 10s" in records[6].verdict.message


def test_a_hold_that_was_short_leaves_nothing_behind() -> None:
    world = gone(fitting())
    world.turn(SAFE)
    gone(world, None)
    records = turns(world, 3)
    assert records[-1].memory is not None
    assert (records[-1].memory.outage, records[-1].memory.quiet_until_s) == (None, None)


step = st.tuples(
    st.sampled_from(["there", "there", "gone", "gone", "stale", "part", "unheard"]),
    st.sampled_from([2.0, 10.0, 14.0, 30.0]),
    st.sampled_from([None, 1.2, 5.0]),
    st.sampled_from(["", "", "", "lost", "none come"]),
)
ERRORS: dict[str, Exception | None] = {
    "there": None,
    "gone": GONE,
    "stale": Stale("old"),
    "part": Incomplete("some are missing"),
    "unheard": GONE,
}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(
    st.lists(step, min_size=5, max_size=30),
    st.integers(1, 8),
    st.sampled_from(["0s", "30s"]),
    st.sampled_from([LADDER[1], "executorTimeout: 60s, failSafe: {outAfter: 10s}}"]),
)
def test_whatever_is_missing_whenever_none_is_taken_away_for_it(
    steps: list[tuple[str, float, float | None, str]], floor: int, down: str, ladder: str
) -> None:
    of = job((LADDER[0], ladder.replace("floor: 4", f"floor: {floor}")), ("down: 0s", f"down: {down}"))
    world = even(3, 4, 10.0)
    turns(world, 3, of)
    for what, load, ratio, event in steps:
        world.observe_error, world.heard = ERRORS[what], what != "unheard"
        world.loads = [load] * 12
        world.longer = None if ratio is None else Longer(ratio=ratio, ended_at_s=world.now_s)
        world.arrive = event != "none come"
        if event == "lost" and len(world.executors) > 1:
            lost = next(iter(world.executors))
            del world.executors[lost]
            rest = sorted(world.executors)
            world.owners = [rest[at % len(rest)] if one == lost else one for at, one in enumerate(world.owners)]
            world.waiting = {group: one for group, one in world.waiting.items() if one != lost}
        before = world.stored
        record = world.turn(of)
        after, verdict = world.stored, record.verdict
        blind = verdict.act and record.model is None and verdict.reason is not Reason.EXECUTOR_REMOVED
        if world.observe_error is not None:
            assert verdict.remove == ()
            assert set(after.marked) <= set(before.marked)
            assert (after.executors_target or 0) >= (before.executors_target or 0)
        if blind:
            assert (after.executors_target or 0) <= max(of.spec.executors.max, before.executors_target or 0)
            assert verdict.reason in (Reason.FAIL_SAFE_OUT, Reason.FAIL_SAFE_FLOOR)
        quiet = after.quiet_until_s is not None and record.at_s < after.quiet_until_s
        if quiet or (after.outage is not None and after.outage.climbed):
            assert verdict.reason is not Reason.SCALE_IN
    assert world.stored.executors_target is not None


def test_the_longest_outage_asks_for_each_step_once() -> None:
    world = gone(fitting())
    world.longer = Longer(ratio=1.4, ended_at_s=world.now_s + 1.0)
    turns(world, 60)
    targets = [one.executors_target for one in world.assignments]
    assert targets == sorted(t for t in targets if t is not None)
    assert [one.reason for one in world.assignments] == [Reason.FAIL_SAFE_OUT, Reason.FAIL_SAFE_FLOOR]


def test_executors_that_do_not_come_are_asked_for_once() -> None:
    world = gone(fitting())
    world.arrive = False
    turns(world, 30)
    assert len(world.assignments) == 1


def test_another_driver_without_measurements_is_asked_in_its_own_name() -> None:
    world = gone(fitting())
    world.application = "app-2"
    turns(world, 6)
    assert world.stored.application_id == "app-2"
    assert len(world.executors) == 4
    assert world.stored.marked == ()


def test_what_is_remembered_and_told_survives_its_text() -> None:
    world = gone(fitting())
    record = turns(world, 5)[-1]
    assert world.stored.outage is not None
    assert world.stored.known is not None
    assert from_json(to_json(world.stored)) == world.stored
    assert decode(CycleRecord, json.loads(json.dumps(encode(record)))) == record
