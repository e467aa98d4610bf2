"""A query that waits for data: known as such, scaled in after its time, and awake again without a storm."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from worlds import World, even, job, warm

from streamjob_operator.ports import Ended
from streamjob_operator.spec import StreamJob
from streamjob_operator.steps.idle import as_known
from streamjob_operator.values import Reason

CALM = job(("down: 0s", "down: 40s"), ("min: 1", "min: 2"))


def asleep(world: World) -> World:
    """No batch ends any more; what its tasks took is in the memory only."""
    world.loads = [0.0] * len(world.loads)
    world.rates = {"batches": 0, "idle_since_s": world.now_s - 10.0}
    return world


def worked(of: StreamJob = CALM) -> World:
    """Four executors, each with three key groups of 10 points and one of 26; they have worked for some windows."""
    world = warm(even(4, 4, 10.0), of)
    world.loads = [26.0 if at % 4 == 0 else 10.0 for at in range(16)]
    for _ in range(4):
        world.turn(of)
    assert len(world.executors) == 4
    return world


def test_an_idle_query_is_a_state_of_its_own_and_nothing_moves() -> None:
    fixed = job(("mode: Auto, targetUtilization", 'mode: "Off", targetUtilization'))
    world = asleep(warm(even(4, 4, 10.0), fixed))
    world.owners = ["0"] * 16
    record = world.turn(fixed)
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.IDLE)
    assert record.verdict.message.startswith("The query has waited for data for 10s")
    assert world.assignments == []


def test_no_batch_and_nobody_who_waits_is_a_measurement_that_lacks() -> None:
    world = asleep(worked())
    world.rates = {"batches": 0}
    record = world.turn(CALM)
    assert record.verdict.reason is Reason.METRICS_INCOMPLETE
    assert "none is waited for" in record.verdict.message


def test_after_its_time_it_keeps_the_fewest_executors_and_says_why() -> None:
    world = asleep(worked())
    first = world.turn(CALM)
    assert first.verdict.reason is Reason.STABILIZING
    assert "the query has waited for data" in first.verdict.message
    reasons = [world.turn(CALM).verdict.reason for _ in range(9)]
    assert reasons.count(Reason.SCALE_IN) == 1
    assert reasons[-1] is Reason.IDLE
    assert len(world.executors) == 2
    assert world.stored.executors_target == 2


def test_what_leaves_is_levelled_by_what_tasks_took_before() -> None:
    world = asleep(worked())
    for _ in range(12):
        world.turn(CALM)
    heavy = [world.owners[at] for at in range(0, 16, 4)]
    assert sorted(heavy.count(one) for one in world.executors) == [2, 2]
    assert sorted(world.owners.count(one) for one in world.executors) == [8, 8]


def test_all_that_leaves_shares_the_next_batch() -> None:
    world = asleep(worked())
    for _ in range(12):
        world.turn(CALM)
    drains = [one for one in world.assignments if one.plan is not None and one.marked_for_removal]
    assert drains
    assert {one.boundary_s for one in drains} == {None}


def test_moves_that_wait_for_the_next_batch_hold_nothing_up() -> None:
    world = asleep(worked())
    world.moves_pending = 8
    for _ in range(12):
        world.turn(CALM)
    assert len(world.executors) == 2


def test_state_that_needs_them_keeps_executors() -> None:
    world = worked()
    world.state_memory, world.state_limit = [100.0] * 16, 500.0
    asleep(world)
    records = [world.turn(CALM) for _ in range(12)]
    assert len(world.executors) == 4
    assert records[-1].scaling is not None
    assert records[-1].scaling.needed == 4


@pytest.mark.parametrize(("nap", "executors", "load"), [(2, 4, 16.0), (20, 2, 8.0)])
def test_it_wakes_up_without_a_storm(nap: int, executors: int, load: float) -> None:
    world = asleep(worked())
    for _ in range(nap):
        world.turn(CALM)
    before = len(world.assignments)
    assert len(world.executors) == executors
    world.rates = {}
    world.loads = [load] * 16  # 64 points for each executor
    reasons = [world.turn(CALM).verdict.reason for _ in range(6)]
    assert len(world.executors) == executors
    assert len(world.assignments) - before <= 1, reasons


def test_a_window_may_forbid_it() -> None:
    window = 'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [ScaleDown]}]}'
    denied = job(("executorTimeout: 60s}", window))
    world = asleep(warm(even(4, 4, 5.0), denied))
    assert {world.turn(denied).verdict.reason for _ in range(3)} == {Reason.WINDOW_DENIES}


def test_a_driver_whose_queries_have_ended_is_a_state_of_its_own() -> None:
    world = worked()
    world.observe_error = Ended("Every query of the driver has ended.")
    record = world.turn(CALM)
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.QUERY_ENDED)


def test_a_memory_that_knows_nothing_takes_all_key_groups_for_alike() -> None:
    world = asleep(even(2, 2, 10.0))
    snapshot = world.observe(world.now_s, 10.0)
    known = as_known(snapshot)
    assert known.busy_s.tolist() == [0.1] * 4
    assert (known.rates.batches, known.window_s) == (1, 40.0)
    awake = dataclasses.replace(snapshot, rates=dataclasses.replace(snapshot.rates, idle_since_s=None))
    assert as_known(awake) is awake
    assert np.array_equal(snapshot.busy_s, np.zeros(4))
