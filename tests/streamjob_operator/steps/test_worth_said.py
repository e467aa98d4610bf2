"""Plans that shorten batches: what a person is told of gain, price, and of what a batch waits for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import moved, placed, timed

from streamjob_operator.spec import Balancing
from streamjob_operator.steps import worth_time
from streamjob_operator.values import Reason
from streamjob_planners.batch.shape import FreeStage
from streamjob_planners.model import LoadModel, Plan

BUDGET = "but no key group may move: all are pinned or above the budget."
HOUR = Balancing.model_validate({"migrationBudget": {"maxCost": "1h"}})


def costing(model: LoadModel, seconds: float) -> LoadModel:
    """Each move takes so long."""
    return dataclasses.replace(model, migration_cost_s=np.full(model.n_groups, seconds))


def gained(model: LoadModel, node_of: list[int], balancing: Balancing = HOUR) -> tuple[Reason, str] | None:
    return worth_time.gained(model, moved(model, node_of), balancing)


def why_not(model: LoadModel, node_of: list[int], bound_s: float | None = None) -> tuple[Reason, str]:
    plan = moved(model, node_of, batch_bound_s=bound_s)
    return worth_time.not_gained(model, plan, HOUR)


HALVES = timed([4.0, 4.0, 0.5], [0, 0, 1])  # 8 s, and one move makes it 4.5 s
IN_HALVES = [0, 1, 1]


@pytest.mark.parametrize(
    ("cost_s", "said"),
    [
        (0.0, "1 move costs nothing: state is loaded where nobody waits for it."),
        (0.0025, "1 move costs nothing: state is loaded where nobody waits for it."),
        (0.5, "1 move costs 0.5 s once; paid for after one batch."),
        (3.5, "1 move costs 3.5 s once; paid for after one batch."),
        (4.0, "1 move costs 4.0 s once; paid for after 2 batches."),
        (35.0, "1 move costs 35.0 s once; paid for after 10 batches."),
    ],
)
def test_a_promise_says_when_it_is_paid_for(cost_s: float, said: str) -> None:
    found = gained(costing(HALVES, cost_s), IN_HALVES)
    assert found == (Reason.BATCH_TIME, f"Batches take 4.5 s in place of 8.0 s; {said}")


def test_several_moves_are_counted() -> None:
    model = timed([2.0, 2.0, 2.0, 0.0], [0, 0, 0, 0], nodes=3)
    found = gained(model, [0, 1, 2, 0])
    assert found is not None
    assert "; 2 moves cost nothing:" in found[1]


def test_what_is_not_paid_for_in_time_is_said() -> None:
    dear = costing(HALVES, 40.0)
    assert gained(dear, IN_HALVES) is None
    assert why_not(dear, IN_HALVES) == (
        Reason.GAIN_TOO_SMALL,
        "Batches take 8.0 s; 1 move would gain 3.5 s a batch and cost 40.0 s once, which is not paid for within 10 "
        "batches. Stage 1 waits for executor 0 (8.0 s of 8.0 s).",
    )


@pytest.mark.parametrize(("seconds", "pays"), [(1.0, False), (1.25, True)])
def test_a_hundredth_of_a_batch_is_too_little(seconds: float, pays: bool) -> None:
    model = timed([100.0 - seconds, seconds, 8.0], [0, 0, 1])
    assert (gained(model, IN_HALVES) is not None) is pays


def test_too_little_to_tell_is_said_without_noise_and_with_it() -> None:
    model = timed([90.0, 0.5, 8.0], [0, 0, 1])
    assert gained(model, [0, 1, 1]) is None
    assert why_not(model, [0, 1, 1]) == (
        Reason.GAIN_TOO_SMALL,
        "Batches take 90.5 s; 1 move would gain 0.5 s, less than predictions can tell. Stage 1 waits for key group 0 "
        "of operator 0 alone, on executor 0 (90.5 s of 90.5 s).",
    )
    noisy = timed([2.0, 2.0, 1.0], [0, 0, 1], error_s=np.full(3, 1.0))
    assert gained(noisy, IN_HALVES) is None
    message = why_not(noisy, IN_HALVES)[1]
    assert message.startswith("Batches take 4.0 s; 1 move would gain 1.0 s, and up to ")
    assert "may be noise of what was measured. Stage 1 waits for executor 0" in message


def test_a_plan_with_which_batches_get_longer_promises_no_gain() -> None:
    """It said that moves would gain -0.5 s: level means may have more chance in them."""
    model = timed([2.0, 1.5, 1.0], [0, 1, 1])
    message = why_not(model, [0, 0, 1])[1]
    assert message.startswith("Batches take 2.5 s; 1 move would make them 1.0 s longer. Stage 1 waits for executor 1")


def test_no_plan_and_no_bound_is_balanced_as_it_is() -> None:
    assert why_not(HALVES, [0, 0, 1]) == (
        Reason.BALANCED,
        "Batches take 8.0 s: stage 1 waits for executor 0 (8.0 s of 8.0 s).",
    )


@pytest.mark.parametrize(
    ("bound_s", "reason"),
    [(7.9, Reason.BALANCED), (8.0, Reason.BALANCED), (7.8, Reason.GAIN_TOO_SMALL)],
)
def test_within_two_hundredths_of_its_bound_a_batch_is_balanced(bound_s: float, reason: Reason) -> None:
    found, message = why_not(HALVES, IN_HALVES, bound_s)
    assert found is reason
    least = f"and no placement takes less than {bound_s:.1f} s: stage 1 waits for executor 0 (8.0 s of 8.0 s)."
    assert (least in message) is (reason is Reason.BALANCED)


def test_where_no_key_group_may_move_that_is_said() -> None:
    model = dataclasses.replace(HALVES, pinned=np.ones(3, dtype=np.bool_))
    assert why_not(model, [0, 0, 1]) == (Reason.BUDGET_TOO_SMALL, f"Batches take 8.0 s, {BUDGET}")
    assert why_not(model, IN_HALVES)[0] is Reason.GAIN_TOO_SMALL


@pytest.mark.parametrize(
    ("seconds", "said"),
    [(120.4, "120 s"), (100.0, "100 s"), (99.94, "99.9 s"), (1.0, "1.0 s"), (0.996, "1 s"), (0.123, "0.12 s")],
)
def test_seconds_are_said_as_exactly_as_they_matter(seconds: float, said: str) -> None:
    model = timed([seconds], [0])
    assert why_not(model, [0])[1].startswith(f"Batches take {said}: ")


def waits_for(model: LoadModel) -> str:
    return worth_time.what_binds(model, model.node_of)


def test_what_a_batch_waits_for_most() -> None:
    alone = timed([3.0, 1.0], [1, 0])
    assert waits_for(alone) == "stage 1 waits for key group 0 of operator 0 alone, on executor 1 (3.0 s of 3.0 s)"
    second = timed([1.0, 1.0, 2.0, 2.0], [0, 0, 1, 1], level=np.array([0, 0, 1, 1]))
    assert waits_for(second) == "stage 2 waits for executor 1 (4.0 s of 6.0 s)"
    fixed = timed([1.0], [0], fixed_s=5.0)
    assert waits_for(fixed) == (
        "most of it is planning, commits and launching tasks, which no executor shortens (5.0 s of 6.0 s)"
    )
    free = timed([1.0], [0], free_stages=(FreeStage(work_s=8.0),))
    assert waits_for(free) == "most of it are stages without key groups (4.0 s of 5.0 s)"
    assert waits_for(placed([1.0], [0])) == "nobody knows what they are spent on"


def test_without_predicted_batches_nothing_can_be_said_of_them() -> None:
    unknown = placed([1.0], [0])
    with pytest.raises(ValueError, match="plan: it predicts no batches"):
        worth_time.expected(moved(unknown, [0]))
    with pytest.raises(ValueError, match="model: it predicts no batches"):
        worth_time.doubt_of(unknown, moved(unknown, [0]))


def filling(fresh: int, light_s: float = 1.0) -> tuple[LoadModel, Plan]:
    """One key group is 10 s alone; executor 1 has as many others as there are fresh executors, one for each."""
    model = timed([10.0, *[light_s] * fresh, 0.0], [0, *[1] * (fresh + 1)], nodes=fresh + 2)
    return model, moved(model, [0, *range(2, fresh + 2), 1])


@pytest.mark.parametrize(
    ("fresh", "names"),
    [(1, "2"), (5, "2, 3, 4, 5, 6"), (6, "2, 3, 4, 5, 6 and 1 more"), (7, "2, 3, 4, 5, 6 and 2 more")],
)
def test_executors_that_are_filled_are_named_five_at_most(fresh: int, names: str) -> None:
    model, plan = filling(fresh)
    if fresh == 1:
        model = timed([10.0, 4.0, 4.0], [0, 1, 1], nodes=3)
        plan = moved(model, [0, 2, 1])
    assert worth_time.gained(model, plan, HOUR) == (
        Reason.FILLING,
        f"{len(plan.moves)} key groups go to executors that had none: {names}. Batches take 10.0 s.",
    )


def test_an_executor_that_gets_nothing_is_not_named() -> None:
    model = timed([10.0, 4.0, 4.0], [0, 1, 1], nodes=4)
    found = gained(model, [0, 2, 1])
    assert found is not None
    assert "executors that had none: 2. Batches" in found[1]


def test_a_batch_of_no_work_fills_nobody_and_is_at_its_bound() -> None:
    idle = timed([0.0, 0.0], [0, 0])
    assert gained(idle, [0, 1]) is None
    assert why_not(idle, [0, 1], bound_s=0.0)[0] is Reason.BALANCED


def test_an_executor_is_not_filled_for_next_to_nothing_nor_where_batches_get_longer() -> None:
    next_to_nothing, plan = filling(2, light_s=0.01)
    assert worth_time.gained(next_to_nothing, plan, HOUR) is None
    longer = timed([4.0, 0.5, 1.75, 1.75], [0, 1, 1, 1], nodes=3)
    assert gained(longer, [0, 0, 1, 2]) is None, "half a second longer"
    used = timed([10.0, 4.0, 4.0, 0.0], [0, 1, 1, 2], nodes=3)
    assert gained(used, [0, 2, 1, 2]) is None, "the third executor has a key group already"
