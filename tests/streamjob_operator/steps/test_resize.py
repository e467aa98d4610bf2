"""Executors that come and go: who is taken back, who is marked, and what is planned with and without those to come."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np
import pytest
from small_models import flags, moved, placed, timed

from streamjob_operator.steps.in_time import InTime
from streamjob_operator.steps.resize import Resized, keep, resize
from streamjob_operator.steps.solve import Solver
from streamjob_operator.values import Memory, PendingPlan, Reason, ScalingDecision
from streamjob_planners.model import Budget, Clock, LoadModel, Objective, Plan, PlanParams, Resource

BY_DISTANCE = PlanParams(objective=Objective.LOAD_DISTANCE, budget=Budget(max_migrations=100))
Places = Callable[[LoadModel], list[int]]


def spread(model: LoadModel) -> list[int]:
    """Key groups in turn on executors that stay."""
    stay = np.flatnonzero(~model.marked).tolist()
    return [stay[at % len(stay)] for at in range(model.n_groups)]


class Placing:
    """A planner that places by a function and keeps what it was asked."""

    name = "placing"

    def __init__(self, places: Places) -> None:
        self.places = places
        self.asked: list[tuple[LoadModel, PlanParams]] = []

    def solve(self, model: LoadModel, params: PlanParams, rng: np.random.Generator, clock: Clock) -> Plan:
        self.asked.append((model, params))
        return moved(model, self.places(model), planner=self.name, elapsed_s=0.5, notes=("One.",))


def solver(places: Places = spread, params: PlanParams = BY_DISTANCE) -> Solver:
    return Solver(planner=Placing(places), params=params, rng=np.random.default_rng(1), clock=lambda: 0.0)


def decided(reason: Reason, target: int, *, told: bool = False) -> ScalingDecision:
    return ScalingDecision(needed=target, target=target, reason=reason, message="A test.", told=told)


def after(
    model: LoadModel,
    decision: ScalingDecision,
    memory: Memory,
    by: Solver | None = None,
    plan: Plan | None = None,
    limit: InTime | None = None,
) -> Resized:
    hold = moved(model, model.node_of.tolist()) if plan is None else plan
    return resize(model, hold, decision, memory, by or solver(), limit)


def wanting(executors: int | None, *marked: str, pending: PendingPlan | None = None) -> Memory:
    return Memory(executors_target=executors, marked=marked, pending=pending)


EVEN = placed([20.0] * 6, [0, 0, 0, 1, 1, 1])


def test_where_scaling_may_not_act_all_stays_as_it_was_decided() -> None:
    plan = moved(EVEN, spread(EVEN))
    found = keep(EVEN, plan, decided(Reason.SCALE_OUT, 5), wanting(3, "1"))
    assert (found.wanted, found.marked, found.plan, found.coming, found.outlook) == (3, ("1",), plan, None, None)
    assert keep(EVEN, plan, decided(Reason.SCALE_OUT, 5), wanting(None)).wanted == 5


def test_no_change_keeps_the_plan_with_the_number_that_was_decided() -> None:
    plan = moved(EVEN, spread(EVEN))
    found = after(EVEN, decided(Reason.EXECUTORS_TIMED_OUT, 2), wanting(4), plan=plan)
    assert (found.wanted, found.plan, found.coming) == (2, plan, None)


@pytest.mark.parametrize("reason", [Reason.WAITING_FOR_EXECUTORS, Reason.REPLICAS_SET, Reason.BALANCED])
def test_executors_that_are_still_missing_are_planned_for(reason: Reason) -> None:
    found = after(EVEN, decided(reason, 3), wanting(3))
    assert found.coming is not None
    assert (found.coming.executors, found.coming.first) == (1, 2)
    assert found.outlook == found.coming.plan.after
    assert found.coming.model.capacity.tolist() == [1.0, 1.0, 1.0]


def test_executors_are_not_planned_for_that_nobody_waits_for() -> None:
    assert after(EVEN, decided(Reason.STABILIZING, 3), wanting(3)).coming is None
    for target in (2, 1):
        assert after(EVEN, decided(Reason.BALANCED, target), wanting(target)).coming is None
    draining = dataclasses.replace(EVEN, marked=flags(2, 1))
    missing = after(draining, decided(Reason.BALANCED, 2), wanting(2, "1")).coming
    assert missing is not None
    assert missing.executors == 1


MARKED = placed([10.0, 20.0, 20.0, 30.0], [0, 1, 2, 3], nodes=4, marked=flags(4, 1, 2, 3))


def test_marked_executors_are_taken_back_the_fullest_first() -> None:
    found = after(MARKED, decided(Reason.SCALE_OUT, 3), wanting(1, "1", "2", "3", "gone"))
    assert (found.marked, found.wanted, found.coming) == (("2", "gone"), 3, None)
    assert found.model.marked.tolist() == [False, False, True, False]
    assert found.plan.node_of.tolist() == [0, 1, 3, 0], "planned with those that are back"


def test_as_many_are_taken_back_as_are_wanted_more() -> None:
    found = after(MARKED, decided(Reason.SCALE_OUT, 2), wanting(1, "1", "2", "3"))
    assert found.marked == ("1", "2")


def test_what_is_possible_without_those_to_come_is_made_at_once() -> None:
    uneven = placed([20.0, 20.0, 20.0, 20.0, 5.0, 5.0], [0, 0, 0, 0, 1, 1])
    by = solver(lambda model: [0, 0, 2, 1, 1, 2] if model.n_nodes == 3 else [0, 0, 0, 0, 1, 1])
    found = after(uneven, decided(Reason.SCALE_OUT, 3), wanting(2), by)
    assert found.plan.node_of.tolist() == [0, 0, 0, 1, 1, 1]
    assert (found.plan.planner, found.plan.elapsed_s, found.plan.notes[0]) == ("placing", 0.5, "One.")
    assert (found.wanted, found.marked) == (3, ())
    assert found.coming is not None
    assert found.coming.plan.node_of.tolist() == [0, 0, 2, 1, 1, 2]


def test_what_does_harm_without_those_to_come_waits_for_them() -> None:
    uneven = placed([20.0] * 4, [0, 0, 1, 1])
    by = solver(lambda model: [2, 2, 0, 1] if model.n_nodes == 3 else [0, 0, 1, 1])
    found = after(uneven, decided(Reason.SCALE_OUT, 3), wanting(2), by)
    assert found.plan.node_of.tolist() == [0, 0, 1, 1]
    assert (found.plan.planner, found.coming is None) == ("placing", False)


def test_a_plan_with_those_to_come_that_breaks_a_rule_is_not_kept() -> None:
    pinned = placed([30.0, 30.0, 10.0, 10.0], [0, 0, 1, 1], pinned=flags(4, 2))
    by = solver(lambda model: [0, 1, 2, 2] if model.n_nodes == 3 else [0, 1, 1, 1])
    found = after(pinned, decided(Reason.SCALE_OUT, 3), wanting(2), by)
    assert (found.coming, found.plan.node_of.tolist()) == (None, [0, 1, 1, 1])


THREE = placed([10.0, 10.0, 10.0, 4.0], [0, 1, 2, 2], nodes=3, state_bytes=np.array([9.0, 1.0, 5.0, 5.0]))


def test_the_cheapest_to_empty_are_marked_and_left_by_all_pinned_or_not() -> None:
    pinned = dataclasses.replace(THREE, pinned=flags(4, 0, 1, 2, 3))
    told = decided(Reason.SCALE_IN, 1, told=True)
    found = after(pinned, told, wanting(3, "old"), solver(lambda _: [2, 2, 2, 2]))
    assert (found.wanted, found.marked, found.decision, found.coming) == (1, ("old", "0", "1"), told, None)
    assert found.model.marked.tolist() == [True, True, False]
    assert found.model.pinned.tolist() == [False, False, True, True]
    assert found.plan.node_of.tolist() == [2, 2, 2, 2]


def test_nobody_is_marked_where_as_few_are_there_already() -> None:
    plan = moved(THREE, [0, 1, 2, 0])
    found = after(THREE, decided(Reason.SCALE_IN, 3), wanting(5), plan=plan)
    assert (found.wanted, found.marked, found.plan) == (3, (), plan)
    fewer = dataclasses.replace(THREE, marked=flags(3, 2))
    assert after(fewer, decided(Reason.SCALE_IN, 2), wanting(2, "2"), plan=plan).marked == ("2",)


def heavy(rest: float) -> LoadModel:
    """Two executors of three would have 60 points and that much."""
    return placed([60.0, rest, 0.0], [0, 1, 2], nodes=3)


def by_two(model: LoadModel) -> list[int]:
    """The heavy one on one of the two that stay, the others beside it."""
    first, *others = np.flatnonzero(~model.marked).tolist()
    return [first, *[others[0] if others else first] * (model.n_groups - 1)]


@pytest.mark.parametrize(("rest", "fits"), [(40.0, True), (39.0, False)])
def test_none_is_marked_where_the_rest_would_be_too_uneven(rest: float, fits: bool) -> None:
    model, even = heavy(rest), moved(placed([1.0], [0], nodes=1), [0])
    found = after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two), plan=even)
    if fits:
        assert (found.marked, found.wanted, found.decision.reason) == (("2",), 2, Reason.SCALE_IN)
        return
    message = "With fewer executors the load distance could not get below 10.5 points, 10.0 are allowed."
    assert (found.marked, found.wanted, found.plan) == ((), 3, even)
    assert (found.decision.target, found.decision.reason) == (3, Reason.WOULD_UNBALANCE)
    assert found.decision.message == message


def test_it_may_stay_as_uneven_as_the_plan_leaves_it() -> None:
    model = heavy(30.0)
    assert after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two)).marked == ("2",)


def test_somebody_elses_number_is_followed_however_uneven_the_rest_gets() -> None:
    even = moved(placed([1.0], [0], nodes=1), [0])
    found = after(heavy(10.0), decided(Reason.SCALE_IN, 2, told=True), wanting(3), solver(by_two), plan=even)
    assert (found.marked, found.wanted) == (("2",), 2)


def test_the_rest_is_asked_without_a_budget_and_planned_for_with_it() -> None:
    by = solver()
    after(THREE, decided(Reason.SCALE_IN, 2), wanting(3), by)
    assert isinstance(by.planner, Placing)
    assert [params.budget.max_migrations for _, params in by.planner.asked] == [None, 100]


def test_by_seconds_only_an_executor_above_the_mean_does_harm() -> None:
    model = dataclasses.replace(timed([1.0] * 3, [0, 1, 2], nodes=3), load=np.array([50.0, 45.0, 0.0]))
    by_time = PlanParams(objective=Objective.BATCH_TIME, max_load_distance=2.0)
    level = moved(placed([30.0], [0], nodes=1), [0])
    refused = after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two, by_time), plan=level)
    assert refused.decision.reason is Reason.WOULD_UNBALANCE
    assert refused.decision.message == (
        "With fewer executors the busiest executor could not get below 2.5 points above the mean, 2.0 are allowed."
    )
    for loads in ([49.0, 45.0, 0.0], [10.0, 14.0, 0.0]):
        even = dataclasses.replace(model, load=np.array(loads))
        assert after(even, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two, by_time), plan=level).marked
    as_today = moved(model, [0, 1, 2])
    assert after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two, by_time), plan=as_today).marked


def test_one_above_the_mean_does_no_harm_where_batches_are_in_time_all_the_same() -> None:
    """A heavy key group keeps its executor far above the mean, with however many others."""
    by_time = PlanParams(objective=Objective.BATCH_TIME, max_load_distance=2.0)
    model, level = timed([6.0, 1.0, 1.0], [0, 1, 2], nodes=3, fixed_s=1.0), moved(placed([30.0], [0], nodes=1), [0])

    def found(limit: InTime | None) -> Resized:
        return after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two, by_time), plan=level, limit=limit)

    assert found(InTime(objective_s=7.0)).marked
    refused = found(InTime(objective_s=5.0))
    assert (refused.decision.reason, refused.wanted, refused.marked) == (Reason.WOULD_UNBALANCE, 3, ())
    assert refused.decision.message == (
        "With fewer executors the busiest executor could not get below 20.0 points above the mean, 2.0 are allowed, "
        "and batches would take 7.0 s of 5.0 s."
    )
    assert found(InTime(objective_s=5.0, rows_ratio=0.5)).marked  # those that were measured worked a backlog off
    assert found(None).decision.reason is Reason.WOULD_UNBALANCE


def test_batches_that_differ_in_size_are_no_noise_that_keeps_executors() -> None:
    """Those of a backlog get shorter one by one; with tasks that vary by 3 s a batch of 7 s would take longer."""
    by_time = PlanParams(objective=Objective.BATCH_TIME, max_load_distance=2.0)
    model, level = timed([6.0, 1.0, 1.0], [0, 1, 2], nodes=3, fixed_s=1.0), moved(placed([30.0], [0], nodes=1), [0])
    assert model.batch is not None
    model = dataclasses.replace(model, batch=dataclasses.replace(model.batch, spread_s=np.array([3.0, 3.0, 3.0])))

    def found(limit: InTime) -> Resized:
        return after(model, decided(Reason.SCALE_IN, 2), wanting(3), solver(by_two, by_time), plan=level, limit=limit)

    assert found(InTime(objective_s=7.0)).decision.reason is Reason.WOULD_UNBALANCE
    assert found(InTime(objective_s=7.0, spread_ratio=np.zeros(3))).marked


def test_state_that_finds_no_room_keeps_executors() -> None:
    room = Resource(name="memory", use=np.ones(4), limit=np.full(3, 2.0))
    full = dataclasses.replace(THREE, resources=(room,))
    stuck = solver(lambda model: model.node_of.tolist())
    found = after(full, decided(Reason.SCALE_IN, 2), wanting(3), stuck)
    left = int(full.node_of.tolist().count(1))
    assert (found.decision.reason, found.marked) == (Reason.MEMORY_TOO_SMALL, ())
    assert found.decision.message == (f"With fewer executors there is no room in memory for {left} key groups' state.")
    assert after(THREE, decided(Reason.SCALE_IN, 2), wanting(3), stuck).decision.reason is not Reason.MEMORY_TOO_SMALL
    assert after(full, decided(Reason.SCALE_IN, 2), wanting(3)).marked


def waiting(executors: int, *marked: str) -> PendingPlan:
    return PendingPlan(
        plan_hash="0123456789ab",
        made_at_s=1.0,
        application_id="app-1",
        moves={},
        executors_wanted=executors,
        marked=marked,
    )


@pytest.mark.parametrize(
    ("pending", "marked"),
    [
        (waiting(2, "0"), ("0",)),
        (waiting(2, "2", "gone"), ("2",)),
        (waiting(1, "0"), ("1",)),  # of another number
        (waiting(2, "0", "2"), ("1",)),  # one would be left
        (waiting(2, "gone"), ("1",)),
        (None, ("1",)),
    ],
)
def test_a_plan_that_waits_for_approval_marks_the_same_again(
    pending: PendingPlan | None, marked: tuple[str, ...]
) -> None:
    found = after(THREE, decided(Reason.SCALE_IN, 2, told=True), wanting(3, pending=pending))
    assert found.marked == marked


def test_what_is_marked_already_does_not_count_among_the_marks_that_wait() -> None:
    four = placed([10.0, 10.0, 10.0, 1.0], [0, 1, 2, 3], nodes=4, marked=flags(4, 3))
    found = after(four, decided(Reason.SCALE_IN, 2, told=True), wanting(3, "3", pending=waiting(2, "3", "0")))
    assert found.marked == ("3", "0")
