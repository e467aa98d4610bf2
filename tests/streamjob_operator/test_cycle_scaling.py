"""Scaling through the whole cycle: out, in, drains, stabilisation, windows, executors that never come."""

import dataclasses

import pytest
from worlds import World, even, job, ruled, warm

from streamjob_operator.values import Reason

AUTO = job()
BOTH = pytest.mark.parametrize("rule", ["batch-time", "utilization"])


def run(world: World, cycles: int, of: object = AUTO) -> list[Reason]:
    return [world.turn(of).verdict.reason for _ in range(cycles)]


def test_an_overloaded_job_grows_and_the_new_executors_get_their_share() -> None:
    world = warm(even(2, 6, 15.0), AUTO)
    first = world.turn(AUTO)
    assert first.verdict.reason is Reason.SCALE_OUT
    assert first.verdict.executors_target == 3
    assert first.outlook is not None
    assert first.outlook.max_load < 90.0
    run(world, 4)
    counts = [world.owners.count(one) for one in world.executors]
    assert sorted(counts) == [4, 4, 4]


def test_an_idle_job_shrinks_by_marking_draining_and_removing() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    reasons = run(world, 8)
    assert reasons[0] is Reason.SCALE_IN
    assert Reason.DRAINING in reasons
    assert reasons[-1] is Reason.BALANCED
    assert len(world.removed) == 2
    assert len(world.executors) == 2
    assert set(world.owners) == set(world.executors)


def test_a_drain_goes_on_when_the_mode_falls_back_to_recommend() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    assert run(world, 1) == [Reason.SCALE_IN]
    recommend = job(("scaling: {mode: Auto", "scaling: {mode: Recommend"), ("mode: Auto\n", "mode: Recommend\n"))
    run(world, 8, recommend)
    assert len(world.removed) == 2


def test_load_that_returns_cancels_the_drain_before_anything_new_is_asked_for() -> None:
    world = warm(even(4, 4, 5.0), AUTO)
    world.moves_per_turn = 1
    assert run(world, 1) == [Reason.SCALE_IN]
    world.loads = [16.0] * 16
    record = world.turn(AUTO)
    assert record.verdict.reason is Reason.SCALE_OUT
    assert record.verdict.marked_for_removal == ()
    assert record.verdict.executors_target == 4
    assert world.removed == []


def test_scale_in_waits_for_its_stabilisation() -> None:
    slow = job(("down: 0s", "down: 30s"))
    world = warm(even(4, 4, 5.0), slow)
    reasons = run(world, 5, slow)
    assert reasons[:3] == [Reason.STABILIZING] * 3
    assert Reason.SCALE_IN in reasons


@pytest.mark.parametrize(("rule", "calm"), [("utilization", 2), ("batch-time", 3)])
def test_one_busy_window_starts_the_stabilisation_anew(rule: str, calm: int) -> None:
    """By batch time the busy window counts up to the measurement after it."""
    slow = ruled(rule, ("down: 0s", "down: 30s"))
    world = warm(even(4, 4, 5.0), slow)
    run(world, 2, slow)
    world.loads = [16.0] * 16
    run(world, 1, slow)
    world.loads = [5.0] * 16
    assert run(world, calm + 1, slow) == [*[Reason.STABILIZING] * calm, Reason.SCALE_IN]


def test_scale_out_can_be_stabilised_too() -> None:
    slow = job(("up: 0s", "up: 20s"))
    world = warm(even(2, 6, 15.0), slow)
    reasons = run(world, 4, slow)
    assert reasons.index(Reason.SCALE_OUT) >= 2


def test_executors_that_never_come_are_given_up_and_asked_for_again_later() -> None:
    world = warm(even(2, 6, 15.0), AUTO)
    world.arrive = False
    targets = []
    for _ in range(20):
        record = world.turn(AUTO)
        assert record.scaling is not None
        targets.append((record.scaling.reason, world.stored.executors_target))
    reasons = [reason for reason, _ in targets]
    assert reasons[0] is Reason.SCALE_OUT
    assert reasons[1] is Reason.WAITING_FOR_EXECUTORS
    retreat = targets.index((Reason.EXECUTORS_TIMED_OUT, 2))
    assert 5 <= retreat <= 9
    assert Reason.SCALE_OUT in reasons[retreat + 5 :]
    assert Reason.SCALE_OUT not in reasons[retreat : retreat + 5]


def test_bounds_hold_whatever_the_load() -> None:
    narrow = job(("min: 1, max: 6", "min: 3, max: 3"))
    busy = warm(even(3, 4, 60.0), narrow)
    idle = warm(even(3, 4, 1.0), narrow)
    run(busy, 3, narrow)
    run(idle, 3, narrow)
    assert {verdict.executors_target for verdict in busy.assignments} <= {3}
    assert idle.assignments == []


@BOTH
def test_more_executors_than_allowed_are_drained(rule: str) -> None:
    narrow = ruled(rule, ("min: 1, max: 6", "min: 1, max: 2"))
    world = warm(even(4, 4, 12.0), narrow)
    run(world, 10, narrow)
    assert len(world.executors) == 2


def test_a_window_may_forbid_scaling_in() -> None:
    window = 'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [ScaleDown]}]}'
    denied = job(("executorTimeout: 60s}", window))
    world = warm(even(4, 4, 5.0), denied)
    assert run(world, 2, denied) == [Reason.WINDOW_DENIES] * 2


def test_by_batch_time_executors_that_could_not_be_balanced_are_no_wish() -> None:
    world, of = even(5, 1, 25.0), ruled("batch-time")
    record = warm(world, of).turn(of)
    assert record.scaling is not None
    assert (record.scaling.needed, record.scaling.reason) == (3, Reason.SCALE_IN)


def test_nothing_is_marked_when_the_rest_could_not_be_balanced() -> None:
    world, of = even(5, 1, 25.0), ruled("utilization")  # two executors would have 75 and 50 points
    record = warm(world, of).turn(of)
    assert record.scaling is not None
    assert record.scaling.needed == 2
    assert record.scaling.reason is Reason.WOULD_UNBALANCE
    assert world.assignments == []


def test_recommended_scaling_is_told_and_not_done() -> None:
    recommend = job(("scaling: {mode: Auto", "scaling: {mode: Recommend"))
    world = warm(even(2, 6, 15.0), recommend)
    record = world.turn(recommend)
    assert record.scaling is not None
    assert (record.scaling.reason, record.scaling.target) == (Reason.SCALE_OUT, 3)
    assert (record.verdict.act, world.assignments) == (False, [])


@BOTH
def test_a_backlog_asks_for_more_than_the_steady_load(rule: str) -> None:
    of = ruled(rule)
    world = warm(even(2, 6, 10.0), of)
    world.rates = {"lag_rows": 100.0}
    assert run(world, 1, of) == [Reason.BALANCED]
    world.rates = {"lag_rows": 100_000.0}
    assert run(world, 1, of) == [Reason.SCALE_OUT]


@BOTH
def test_a_job_that_has_its_most_executors_and_needs_more_is_not_told_as_one_that_fits(rule: str) -> None:
    of = ruled(rule, ("max: 6", "max: 2"))
    world = warm(even(2, 4, 40.0), of)
    world.rates = {"trigger_interval_s": 2.0}
    verdict = world.turn(of).verdict
    assert verdict.reason is Reason.NOT_ENOUGH
    assert "executors.max is 2." in verdict.message
    assert "2 executors stay: " in verdict.message


def test_a_batch_that_does_not_fit_into_its_trigger_interval_asks_for_more() -> None:
    world = warm(even(2, 6, 10.0), AUTO)
    fits = {"trigger_interval_s": 2.0, "batches": 5, "mean_batch_s": 1.5}
    assert run(dataclasses.replace(world, rates=fits), 1) == [Reason.BALANCED]
    assert run(dataclasses.replace(world, rates={**fits, "mean_batch_s": 2.6}), 1) == [Reason.SCALE_OUT]


def test_recommended_executors_are_told_as_a_recommendation_and_nothing_is_done() -> None:
    recommend = job(("scaling: {mode: Auto", "scaling: {mode: Recommend"), ("mode: Auto\n", "mode: Recommend\n"))
    world = warm(even(2, 6, 15.0), recommend)
    record = world.turn(recommend)
    assert record.verdict.reason is Reason.RECOMMENDED
    assert record.verdict.message.startswith("Recommended: 3 executors in place of 2")
    assert record.verdict.executors_target is None
    assert not record.verdict.act
    assert record.scaling is not None
    assert record.scaling.target == 3
    assert world.assignments == []


def test_looking_again_at_the_same_measurement_is_no_longer_calm() -> None:
    """Cycles that come while a long batch runs have nothing new to say of how long a need has lasted."""
    slow = job(("down: 0s", "down: 30s"))
    world = warm(even(4, 4, 5.0), slow)
    run(world, 1, slow)
    for _ in range(4):
        world.measured_ago_s += 10.0  # as old as the time since: no batch has ended
        assert world.turn(slow).verdict.reason in (Reason.STABILIZING, Reason.METRICS_STALE)
    world.measured_ago_s = 0.0
    assert Reason.SCALE_IN in run(world, 4, slow)


@pytest.mark.parametrize("latency", ["8s", "10s"])
def test_a_latency_that_no_batch_can_keep_is_told_and_the_job_is_looked_after(latency: str) -> None:
    """The trigger's interval is known only once the job runs; each cycle ended with a division by zero."""
    policy = job(("scaling: {mode: Auto", f"scaling: {{mode: Auto, maxLatency: {latency}"), ("max: 6", "max: 2"))
    world = even(2, 6, 5.0)
    world.loads[0], world.rates = 40.0, {"trigger_interval_s": 10.0, "batches": 1, "last_batch_s": 2.0}
    found = warm(world, policy).turn(policy)
    assert (found.verdict.act, found.verdict.reason) == (True, Reason.BATCH_TIME)
    assert found.scaling is not None
    assert (
        f"(scaling.maxLatency is {latency}, more than the trigger interval of 10s is needed)" in found.scaling.message
    )
