"""The cycle on a small world: one test for each reason it gives."""

import dataclasses

import numpy as np
import pytest
import worlds
from scipy import sparse
from worlds import World, even, job, warm

from streamjob_operator.ports import Stale, Unavailable
from streamjob_operator.values import CycleRecord, Reason
from streamjob_planners import registry
from streamjob_planners.model import LoadModel, Plan

RECOMMENDING = ("mode: Auto\n    planner", "mode: Recommend\n    planner")
SCALING_OFF = ("scaling: {mode: Auto", "scaling: {mode: 'Off'")
UNSCALED = job(SCALING_OFF)


def skewed() -> World:
    """Three executors at 88, 56 and 24 points; all of them could have 56."""
    world = even(3, 4, 0.0)
    world.loads = [22.0] * 4 + [14.0] * 4 + [6.0] * 4
    return world


def reason(world: World, of: worlds.StreamJob = UNSCALED) -> Reason:
    return world.turn(of).verdict.reason


def test_a_skewed_job_is_balanced_within_the_budget_and_then_left_alone() -> None:
    world = warm(skewed(), UNSCALED)
    records = [world.turn(UNSCALED) for _ in range(5)]
    assert records[0].verdict.reason is Reason.BATCH_TIME
    assert all(len(verdict.plan.moves) <= 4 for verdict in world.assignments if verdict.plan)
    last = records[-1].verdict
    assert last.reason is Reason.BALANCED
    assert last.plan is not None
    assert last.plan.before.load_distance == pytest.approx(10.0, abs=1e-3)
    assert [record.verdict.act for record in records[-2:]] == [False, False]


def test_warming_up_for_one_statistics_period_after_each_new_driver() -> None:
    world = warm(even(2, 2, 30.0), UNSCALED)
    assert reason(world) is Reason.BALANCED
    world.application = "app-2"
    assert reason(world) is Reason.WARMING_UP
    assert reason(world) is Reason.BALANCED


def test_metrics_that_are_missing_or_stale_hold() -> None:
    world = warm(skewed(), UNSCALED)
    world.observe_error = Unavailable("nobody answers")
    record = world.turn(UNSCALED)
    assert (record.verdict.reason, record.verdict.message) == (Reason.METRICS_UNAVAILABLE, "nobody answers")
    world.observe_error = Stale("an hour old")
    assert reason(world) is Reason.METRICS_STALE
    assert world.assignments == []


def test_too_few_measured_groups_hold() -> None:
    world = skewed()
    world.loads[:2] = [0.0, 0.0]
    assert reason(warm(world, UNSCALED)) is Reason.METRICS_INCOMPLETE
    world.loads[1] = 1.0
    assert reason(world) is not Reason.METRICS_INCOMPLETE


def test_measurements_that_lack_key_groups_hold() -> None:
    world = warm(even(4, 2, 5.0), UNSCALED)
    assert reason(world, UNSCALED) is not Reason.METRICS_INCOMPLETE
    world.loads, world.owners = world.loads[:-2], world.owners[:-2]
    record = world.turn(UNSCALED)
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.METRICS_INCOMPLETE)
    assert record.verdict.message == "6 of 8 key groups are in the measurements."


def test_a_measurement_from_before_the_last_decision_is_not_acted_on() -> None:
    world = warm(skewed(), UNSCALED)
    assert world.turn(UNSCALED).verdict.act
    world.measured_ago_s = 15.0
    record = world.turn(UNSCALED)
    assert (record.verdict.act, record.verdict.reason) == (False, Reason.SETTLING)


@pytest.mark.parametrize("change", [{"rates": {"batches": 0}}, {"loads": [], "owners": []}, {"executors": {}}])
def test_nothing_to_measure_holds(change: dict[str, object]) -> None:
    world = warm(even(2, 2, 30.0), UNSCALED)
    assert reason(dataclasses.replace(world, **change)) is Reason.METRICS_INCOMPLETE


def test_modes() -> None:
    off = job(SCALING_OFF, ("mode: Auto\n    planner", "mode: 'Off'\n    planner"))
    assert reason(warm(skewed(), off), off) is Reason.MODE_OFF
    recommend = job(SCALING_OFF, RECOMMENDING)
    world = warm(skewed(), recommend)
    record = world.turn(recommend)
    assert record.verdict.reason is Reason.RECOMMENDED
    assert record.verdict.plan is not None
    assert record.verdict.plan.moves
    assert world.assignments == []


def test_pause_and_actuation_off_hold() -> None:
    paused = job(SCALING_OFF, annotations={"streamjob.dev/pause": "true"})
    world = warm(skewed(), paused)
    assert reason(world, paused) is Reason.PAUSED
    world.actuation_on = False
    record = world.turn(UNSCALED)
    assert record.verdict.reason is Reason.ACTUATION_OFF
    assert "SelfTestFailed" in record.verdict.message


def test_moves_that_are_pending_are_waited_for_unless_an_executor_is_overloaded() -> None:
    world = warm(skewed(), UNSCALED)
    world.moves_pending = 3
    assert reason(world) is Reason.MOVES_PENDING
    world.loads = [load * 1.2 for load in world.loads]
    assert reason(world) is Reason.BATCH_TIME


def test_a_plan_is_told_in_seconds_of_a_batch() -> None:
    verdict = warm(skewed(), UNSCALED).turn(UNSCALED).verdict
    assert verdict.reason is Reason.BATCH_TIME
    assert verdict.message.startswith("Batches take 1.4 s in place of 1.9 s; 1 move costs nothing")


def test_what_a_balanced_batch_waits_for_is_told() -> None:
    world = even(2, 2, 0.0)
    world.loads = [50.0, 0.5, 1.0, 1.0]
    record = warm(world, UNSCALED).turn(UNSCALED)
    assert record.verdict.reason is Reason.BALANCED
    assert "waits for key group 0 of operator 0 alone, on executor 0" in record.verdict.message


def test_by_load_distance_where_that_is_the_objective() -> None:
    distance = job(SCALING_OFF, ("planner: greedy", "planner: greedy\n    objective: loadDistance"))
    assert reason(warm(skewed(), distance), distance) is Reason.LOAD_DISTANCE
    world = even(2, 2, 0.0)
    world.loads = [50.0, 0.5, 1.0, 1.0]
    verdict = warm(world, distance).turn(distance).verdict
    assert verdict.reason is Reason.GAIN_TOO_SMALL
    assert "1 move would gain 0.5, more than 0.5 is needed" in verdict.message
    assert "alone needs 50.0 points" in verdict.message


def test_batches_that_cannot_be_predicted_leave_it_to_the_load_distance() -> None:
    world = warm(even(4, 3, 10.0), UNSCALED)
    for number in range(8):
        world.rates = {"mean_batch_s": 5.0 if number % 2 else 1.0}
        verdict = world.turn(UNSCALED).verdict
    assert "Predicted batches are off by" in verdict.message
    world.loads = skewed().loads
    assert reason(world) is Reason.LOAD_DISTANCE


def test_a_budget_that_pays_for_no_move_is_named() -> None:
    small = job(SCALING_OFF, ("maxMigrations: 4", "maxStateBytes: 1Ki"))
    assert reason(warm(skewed(), small), small) is Reason.BUDGET_TOO_SMALL


def test_a_window_may_forbid_moves() -> None:
    window = 'executorTimeout: 60s, windows: [{cron: "* * * * *", duration: 1m, deny: [Move]}]}'
    denied = job(SCALING_OFF, ("executorTimeout: 60s}", window))
    assert reason(warm(skewed(), denied), denied) is Reason.WINDOW_DENIES


class Failing:
    """A planner that goes wrong on purpose."""

    name = "failing"

    def __init__(self, how: str) -> None:
        self.how = how

    def solve(self, model: LoadModel, params: object, rng: object, clock: object) -> Plan:
        if self.how == "raises":
            raise RuntimeError("solver fell over")
        good = registry.get("hold").solve(model, params, rng, clock)
        return dataclasses.replace(good, node_of=np.roll(model.node_of, 1).astype(np.int64))


@pytest.mark.parametrize(("how", "expected"), [("raises", Reason.PLANNER_FAILED), ("lies", Reason.PLAN_REFUSED)])
def test_a_planner_that_fails_or_lies_changes_nothing(
    how: str, expected: Reason, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("streamjob_operator.steps.solve.in_process", lambda *_: Failing(how))
    world = warm(skewed(), UNSCALED)
    assert reason(world) is expected
    assert world.assignments == []


@pytest.mark.parametrize(
    ("error", "expected"),
    [(Unavailable("gone"), Reason.ACTUATOR_UNAVAILABLE), (Stale("another driver"), Reason.PLAN_STALE)],
)
def test_a_verdict_that_is_not_carried_out_is_made_again(error: Exception, expected: Reason) -> None:
    world = warm(skewed(), UNSCALED)
    world.actuate_error = error
    record = world.turn(UNSCALED)
    assert record.receipt is not None
    assert (record.receipt.accepted, record.receipt.reason) == (False, expected)
    assert world.stored.generation == 0
    assert world.stored.counters[expected] == 1
    world.actuate_error = None
    assert reason(world) is Reason.BATCH_TIME


def test_key_groups_whose_executor_is_gone_are_given_a_home() -> None:
    world = even(3, 4, 10.0)
    world.owners[0] = None
    record = warm(world, UNSCALED).turn(UNSCALED)
    assert record.verdict.reason is Reason.DRAINING
    assert world.owners[0] in world.executors


def test_a_failing_reporter_is_counted_and_changes_nothing() -> None:
    class Broken:
        def report(self, record: CycleRecord) -> None:
            raise OSError("disk full")

    class Listening:
        def __init__(self) -> None:
            self.heard: list[Reason] = []

        def report(self, record: CycleRecord) -> None:
            self.heard.append(record.verdict.reason)

    world, listening = warm(skewed(), UNSCALED), Listening()
    world.turn(UNSCALED, [Broken(), listening])
    assert listening.heard == [Reason.BATCH_TIME]
    assert world.stored.counters["ReporterErrors"] == 1
    assert world.stored.generation == 1


def talking() -> World:
    """Two balanced executors whose key groups talk to the other executor only."""
    world = even(2, 4, 4.0)
    world.traffic = sparse.csr_array((np.full(4, 1e9), (range(4), [4, 5, 6, 7])), shape=(8, 8))
    return world


@pytest.mark.parametrize("planner", ["albic", "albic-paper"])
def test_collocation_moves_talkers_together_when_the_load_allows_it(planner: str) -> None:
    albic = job(SCALING_OFF, ("planner: greedy", f"planner: {planner}"))
    world = warm(talking(), albic)
    first = world.turn(albic).verdict
    assert first.reason is Reason.COLLOCATION
    for _ in range(5):
        world.turn(albic)
    pairs = [(world.owners[group], world.owners[group + 4]) for group in range(4)]
    assert all(one == other for one, other in pairs)


@pytest.mark.parametrize(
    ("bytes_in_window", "expected"),
    # At 10 MB/s a megabyte in a window of 10 s costs 0.04 s of work in ten batches, and a move 0.2 s.
    [
        ([1e9] * 4, Reason.COLLOCATION),
        ([6e6, 1e6, 1e6, 1e6], Reason.BALANCED),
        ([3e6] * 4, Reason.BALANCED),
        ([0.0] * 4, Reason.BALANCED),
    ],
)
def test_next_to_no_traffic_is_not_worth_a_move(bytes_in_window: list[float], expected: Reason) -> None:
    albic = job(SCALING_OFF, ("planner: greedy", "planner: albic"))
    world = talking()
    world.traffic = sparse.csr_array((np.array(bytes_in_window), (range(4), [4, 5, 6, 7])), shape=(8, 8))
    assert reason(warm(world, albic), albic) is expected


def test_collocation_can_be_turned_off() -> None:
    alone = job(SCALING_OFF, ("planner: greedy", "planner: albic\n    collocation: {enabled: false}"))
    assert reason(warm(talking(), alone), alone) is Reason.BALANCED
