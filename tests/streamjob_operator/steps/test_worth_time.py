"""Moves that shorten batches are made when they pay for themselves, and the sentence says in seconds why or why not."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import moved, timed
from worlds import World, even

from streamjob_operator.spec import Balancing
from streamjob_operator.steps import worth_time
from streamjob_operator.steps.batching import learn_batches
from streamjob_operator.steps.boundary import allowance_s, in_waves, moves_cost_s
from streamjob_operator.steps.estimate import estimate
from streamjob_operator.steps.worth import Worth, worth
from streamjob_operator.steps.worth_time import Standing
from streamjob_operator.values import Memory, Reason, StageView
from streamjob_planners import plans
from streamjob_planners.batch.doubt import Doubt
from streamjob_planners.model import LoadModel


def model_of(world: World, **stage: float) -> LoadModel:
    seen = world.observe(1000.0, 10.0)
    if stage:
        view = StageView(operator=0, level=0, wall_s=1.0, busy_s=1.0, longest_s=1.0, **stage)
        seen = dataclasses.replace(seen, stages=(view,))
    return estimate(seen, learn_batches(Memory(), seen)).model


def judged(
    model: LoadModel, node_of: list[int], balancing: Balancing | None = None, bound_s: float | None = None
) -> Worth:
    plan = plans.make_plan(model, np.array(node_of), planner="test", elapsed_s=0.0)
    plan = dataclasses.replace(plan, batch_bound_s=bound_s)
    return worth(model, plan, balancing or Balancing())


def skewed() -> LoadModel:
    """Executor 0 works 3.2 s of a batch, executor 1 0.8 s."""
    world = even(2, 2, 20.0)
    world.loads = [80.0, 80.0, 20.0, 20.0]
    return model_of(world)


def test_seconds_gained_seconds_paid_and_when_it_is_paid_for() -> None:
    found = judged(skewed(), [0, 1, 1, 0])
    assert (found.act, found.reason) == (True, Reason.BATCH_TIME)
    assert found.message.startswith("Batches take 2.1 s in place of 3.3 s; 2 moves cost 0.21 s once; paid for after")


def test_a_gain_that_its_moves_eat_up_is_left() -> None:
    world = even(2, 2, 20.0)
    world.loads = [44.0, 40.0, 40.0, 40.0]
    seen = world.observe(1000.0, 10.0)
    dear = dataclasses.replace(seen, state_bytes=np.full(4, 1e9))  # 5.7 s each
    model = estimate(dear, learn_batches(Memory(), dear)).model
    world.loads = [44.0, 40.0, 40.0, 40.0]
    found = judged(model, [0, 1, 1, 0], Balancing.model_validate({"payback": 10}))
    assert (found.act, found.reason) == (False, Reason.GAIN_TOO_SMALL)


def test_a_patient_user_gets_what_pays_late() -> None:
    world = even(2, 2, 20.0)
    world.loads = [60.0, 40.0, 40.0, 30.0]
    model = dataclasses.replace(model_of(world, spread_s=0.0), migration_cost_s=np.full(4, 5.7))
    place = [0, 1, 1, 0]
    assert judged(model, place, Balancing.model_validate({"payback": 10})).reason is Reason.GAIN_TOO_SMALL
    assert judged(model, place, Balancing.model_validate({"payback": 1000})).act


def test_a_gain_below_what_batches_vary_is_left() -> None:
    world = even(2, 2, 20.0)
    world.loads = [28.0, 20.0, 20.0, 16.0]
    patient = Balancing.model_validate({"payback": 100})
    assert judged(model_of(world, spread_s=0.0), [0, 1, 1, 0], patient).act
    noisy = judged(model_of(world, spread_s=0.3), [0, 1, 1, 0], patient)
    assert (noisy.act, noisy.reason) == (False, Reason.GAIN_TOO_SMALL)
    assert "may be noise of what was measured" in noisy.message


@pytest.mark.parametrize(("payback", "act"), [(1, False), (3, True)])
def test_of_a_gain_what_noise_makes_in_the_mean_pays_for_nothing(
    monkeypatch: pytest.MonkeyPatch, payback: int, act: bool
) -> None:
    """Of 1.2 s a batch 1.1 may be noise, and moves cost 0.21 s."""
    monkeypatch.setattr(worth_time, "doubt_of", lambda model, plan: Doubt(mean_s=1.1, most_s=1.1))
    found = judged(skewed(), [0, 1, 1, 0], Balancing.model_validate({"payback": payback}))
    assert found.act is act
    assert act or f"not paid for within {payback} batches" in found.message


@pytest.mark.parametrize(("mean_s", "act"), [(0.5, True), (1.3, False)])
def test_a_job_that_falls_behind_waits_for_no_certainty(
    monkeypatch: pytest.MonkeyPatch, mean_s: float, act: bool
) -> None:
    """Of 1.2 s a batch up to 9 s may be noise: its few long batches differ in size."""
    monkeypatch.setattr(worth_time, "doubt_of", lambda model, plan: Doubt(mean_s=mean_s, most_s=9.0))
    plan = plans.make_plan(skewed(), np.array([0, 1, 1, 0]), planner="test", elapsed_s=0.0)
    calm = worth(skewed(), plan, Balancing())
    assert (calm.act, "up to 9.0 s may be noise" in calm.message) == (False, True)
    found = worth(skewed(), plan, Balancing(), Standing(behind=True))
    assert found.act is act
    assert act or "moves would gain 1.2 s, and noise of what was measured makes 1.3 s in the mean." in found.message


UNEVEN = timed([1.06, 1.0, 1.0, 0.94], [0, 0, 1, 1])
"""Batches of 2.06 s, which may take 2 s: three percent less."""


@pytest.mark.parametrize(
    ("off", "act"), [(0.0, True), (0.01, True), (0.02, False), (0.2, False)], ids=["sure", "good", "fair", "poor"]
)
def test_a_gain_that_predictions_cannot_tell_is_left(off: float, act: bool) -> None:
    """A prediction may be off both of the batch before and of the batch after."""
    found = worth(UNEVEN, moved(UNEVEN, [0, 1, 1, 0]), Balancing(), Standing(off=off))
    assert found.act is act
    told = f"gain 0.06 s, less than predictions can tell, which have been off by {100 * off:.1f} percent."
    assert act or told in found.message


def test_a_gain_of_a_twentieth_is_made_however_far_predictions_are_off() -> None:
    more = timed([1.11, 1.0, 1.0, 0.89], [0, 0, 1, 1])
    assert worth(more, moved(more, [0, 1, 1, 0]), Balancing(), Standing(off=0.24)).act


def test_a_job_that_falls_behind_waits_for_no_better_predictions() -> None:
    assert worth(UNEVEN, moved(UNEVEN, [0, 1, 1, 0]), Balancing(), Standing(off=0.1, behind=True)).act


def test_a_gain_that_noise_may_make_to_the_last_bit_is_told_as_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    plan = plans.make_plan(skewed(), np.array([0, 1, 1, 0]), planner="test", elapsed_s=0.0)
    before_s, after_s = worth_time.expected(plan)
    monkeypatch.setattr(worth_time, "doubt_of", lambda model, plan: Doubt(mean_s=0.0, most_s=before_s - after_s))
    found = judged(skewed(), [0, 1, 1, 0])
    assert (found.act, found.reason) == (False, Reason.GAIN_TOO_SMALL)
    assert "may be noise of what was measured" in found.message


def test_seconds_are_not_told_of_a_plan_that_predicts_none() -> None:
    plan = plans.make_plan(skewed(), np.array([0, 1, 1, 0]), planner="test", elapsed_s=0.0)
    unknown = dataclasses.replace(plan, before=dataclasses.replace(plan.before, batch_s=None))
    with pytest.raises(ValueError, match="it predicts no batches"):
        worth_time.expected(unknown)


def test_empty_executors_are_filled_although_the_longest_one_stays() -> None:
    world = even(2, 3, 20.0)
    world.loads = [80.0, 10.0, 10.0, 30.0, 30.0, 30.0]
    world.owners = ["0", "1", "1", "1", "1", "1"]
    world.executors["2"] = "ready"
    found = judged(model_of(world), [0, 1, 1, 1, 2, 2])
    assert found.act
    world.loads = [150.0, 10.0, 10.0, 30.0, 30.0, 30.0]
    found = judged(model_of(world), [0, 1, 1, 1, 2, 2])
    assert (found.act, found.reason) == (True, Reason.FILLING)
    assert "executors that had none: 2" in found.message


def test_what_a_balanced_batch_waits_for_is_said() -> None:
    world = even(2, 2, 20.0)
    world.loads = [90.0, 5.0, 5.0, 5.0]
    world.owners = ["0", "1", "1", "1"]
    found = judged(model_of(world), [0, 1, 1, 1], bound_s=1.9)
    assert (found.act, found.reason) == (False, Reason.BALANCED)
    assert "no placement takes less than 1.9 s" in found.message
    assert "waits for key group 0 of operator 0 alone, on executor 0" in found.message


@pytest.mark.parametrize(
    ("budget", "expected_s"),
    [
        ({}, 0.4),
        ({"maxCost": "3s"}, 3.0),
        ({"latencyObjective": "5s"}, 1.0),
        ({"latencyObjective": "2s"}, 0.05),
    ],
)
def test_what_moves_may_add_to_a_batch(budget: dict[str, str], expected_s: float) -> None:
    stated = Balancing.model_validate({"migrationBudget": budget}).migration_budget
    assert allowance_s(stated, 4.0) == pytest.approx(expected_s)


def test_moves_that_load_side_by_side_cost_once() -> None:
    model = model_of(even(4, 2, 20.0))
    plan = plans.make_plan(model, np.array([1, 0, 0, 1, 3, 2, 2, 3]), planner="test", elapsed_s=0.0)
    budget = Balancing.model_validate({"migrationBudget": {"maxCost": "1h"}}).migration_budget
    ordered, costs_s = in_waves(model, plan, budget)
    assert sorted(move.group for move in ordered.moves) == sorted(move.group for move in plan.moves)
    assert sum(costs_s) == pytest.approx(moves_cost_s(model, plan, budget))
    alone_s = float(model.migration_cost_s[0])
    assert alone_s - 1e-9 <= sum(costs_s) < 2.5 * alone_s < sum(move.cost_s for move in plan.moves)
