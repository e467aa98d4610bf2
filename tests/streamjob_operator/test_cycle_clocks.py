"""Clocks that are set back, or of a controller that took over from one whose clock was ahead."""

from __future__ import annotations

import dataclasses

import pytest
from worlds import World, even, job, warm

from streamjob_operator.outage import Outage, Rung
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import Memory, Reason

HOUR_S = 3600.0
PERIOD_S = 10.0


def uneven() -> World:
    world = even(2, 4, 10.0)
    world.loads = [30.0] * 4 + [2.0] * 4
    return world


def test_a_clock_that_is_set_back_costs_one_warm_up() -> None:
    of = job()
    world = warm(uneven(), of)
    world.now_s -= HOUR_S
    assert world.turn(of).verdict.reason is Reason.WARMING_UP
    assert world.turn(of).verdict.reason is Reason.BATCH_TIME


@pytest.mark.parametrize(
    "ahead",
    [
        lambda at_s, kept: dataclasses.replace(kept, acted_at_s=at_s),
        lambda at_s, kept: dataclasses.replace(kept, batches=dataclasses.replace(kept.batches, at_s=at_s)),
    ],
    ids=["acted", "learned"],
)
def test_what_was_done_or_learned_at_a_time_that_has_not_come_keeps_nothing_as_it_is(ahead) -> None:  # type: ignore[no-untyped-def]
    of = job()
    world = warm(uneven(), of)
    world.stored = ahead(world.now_s + HOUR_S, world.stored)
    assert [world.turn(of).verdict.reason for _ in range(2)] == [Reason.WARMING_UP, Reason.BATCH_TIME]
    assert world.stored.batches.at_s is not None
    assert world.stored.batches.at_s <= world.now_s


def test_drains_generation_and_counts_are_kept() -> None:
    of = job()
    world = warm(even(3, 2, 10.0), of)
    world.generation, world.executors = 7, {"0": "ready", "1": "ready", "2": "draining"}
    counters = {"Balanced": 5}
    kept = Memory(
        generation=7,
        application_id="app-1",
        executors_target=2,
        marked=("2",),
        first_seen_s=world.now_s + HOUR_S,
        approved_plan="abc",
        counters=counters,
    )
    world.stored = kept
    assert world.turn(of).verdict.reason is Reason.WARMING_UP
    after = world.stored
    assert (after.generation, after.executors_target, after.marked, after.approved_plan) == (7, 2, ("2",), "abc")
    assert after.counters == {"Balanced": 5, "WarmingUp": 1}


def test_less_than_a_window_ahead_is_two_clocks_of_one_world() -> None:
    of = job()
    world = warm(uneven(), of)
    world.turn(of)
    world.stored = dataclasses.replace(world.stored, acted_at_s=world.now_s + PERIOD_S - 1.0)
    assert world.turn(of).verdict.reason is Reason.SETTLING


FAIL_SAFE = ("executorTimeout: 60s}", "executorTimeout: 60s, failSafe: {outAfter: 10s, floorAfter: 20s, floor: 3}}")


def test_the_ladder_of_a_time_without_measurements_begins_anew_and_does_not_wait_for_the_old_clock() -> None:
    of = job(FAIL_SAFE)
    world = warm(even(2, 4, 10.0), of)
    world.turn(of)
    world.observe_error = Unavailable("no answer")
    world.turn(of)
    world.now_s -= HOUR_S
    assert [world.turn(of).verdict.reason for _ in range(3)][-1] is Reason.FAIL_SAFE_FLOOR


def test_measurements_that_were_back_by_a_clock_that_was_set_back_are_back_after_a_period() -> None:
    of = job(FAIL_SAFE)
    world = warm(even(2, 4, 10.0), of)
    world.turn(of)
    ahead_s = world.now_s + HOUR_S
    outage = Outage(since_s=world.now_s - 60.0, reason="MetricsUnavailable", rung=Rung.OUT_ONLY, back_since_s=ahead_s)
    world.stored = dataclasses.replace(world.stored, outage=outage)
    world.turn(of)
    world.turn(of)
    assert world.stored.outage is None
