"""What moves may add to a batch, and what each of a plan's moves adds at its boundary."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from small_models import moved, placed, timed

from streamjob_operator.spec import MigrationBudget
from streamjob_operator.steps.boundary import allowance_s, boundaries_s, in_waves, moves_cost_s, spread_out
from streamjob_operator.values import QueryPart
from streamjob_planners.model import GroupId, LoadModel

FREE = MigrationBudget()
HOUR = MigrationBudget.model_validate({"maxCost": "1h"})
TIGHT = MigrationBudget.model_validate({"maxCost": "100ms"})
ORDERS = QueryPart(query_id="a", name="orders", first_operator=0, operators=1, mean_batch_s=20.0)
CLICKS = QueryPart(query_id="b", name="clicks", first_operator=1, operators=1, mean_batch_s=1.0)


def pairs() -> LoadModel:
    """Four executors of two seconds each and two empty ones; a move takes 0.9 s, those to one executor one by one."""
    model = timed([1.0] * 8, [0, 0, 1, 1, 2, 2, 3, 3], nodes=6)
    ids = tuple(GroupId(operator=at // 4, partition=at % 4) for at in range(8))
    return dataclasses.replace(model, group_ids=ids, migration_cost_s=np.full(8, 0.9))


ONE_EACH = [4, 0, 4, 1, 5, 2, 5, 3]
"""One of each full executor's key groups goes, two to either of the empty ones."""


@pytest.mark.parametrize(
    ("budget", "batch_s", "allowed_s"),
    [
        ({"maxCost": "3s", "latencyObjective": "9s"}, 4.0, 3.0),
        ({"latencyObjective": "5s"}, 4.0, 1.0),
        ({"latencyObjective": "5s"}, 4.98, 0.05),
        ({}, 4.0, 0.4),
        ({}, 0.4, 0.05),
    ],
)
def test_stated_or_what_the_objective_leaves_or_a_tenth_of_a_batch(
    budget: dict[str, str], batch_s: float, allowed_s: float
) -> None:
    assert allowance_s(MigrationBudget.model_validate(budget), batch_s) == pytest.approx(allowed_s)


def test_a_generous_budget_makes_all_moves_at_once_and_a_tight_one_a_few_at_a_time() -> None:
    model = pairs()
    plan = moved(model, ONE_EACH)
    generous, tight = spread_out(model, plan, HOUR), spread_out(model, plan, TIGHT)
    assert [(len(wave.moves), wave.extra_s) for wave in generous] == [(4, pytest.approx(1.8))]
    assert [len(wave.moves) for wave in tight] == [2, 1, 1]
    assert [wave.extra_s for wave in tight] == pytest.approx([0.0, 0.9, 0.9])
    assert spread_out(model, plan, FREE) == tight, "a tenth of a batch of 2 s is less than a move"


@pytest.mark.parametrize(
    ("budget", "move_s", "waves"),
    [
        ({}, 0.02, [2]),
        ({}, 0.04, [1, 1]),
        ({"latencyObjective": "1s"}, 0.4, [2]),
        ({"latencyObjective": "1s"}, 0.7, [1, 1]),
    ],
)
def test_batches_of_no_time_leave_moves_all_that_there_is(
    budget: dict[str, str], move_s: float, waves: list[int]
) -> None:
    model = dataclasses.replace(timed([0.0, 0.0], [0, 0]), migration_cost_s=np.full(2, move_s))
    spread = spread_out(model, moved(model, [1, 1]), MigrationBudget.model_validate(budget))
    assert [len(wave.moves) for wave in spread] == waves


def test_the_first_move_of_a_wave_stands_for_all_that_load_beside_it() -> None:
    model = pairs()
    plan = moved(model, ONE_EACH)
    for budget, costs_s in ((HOUR, (1.8, 0.0, 0.0, 0.0)), (TIGHT, (0.0, 0.0, 0.9, 0.9))):
        ordered, found_s = in_waves(model, plan, budget)
        assert sorted(move.group for move in ordered.moves) == [0, 2, 4, 6]
        assert found_s == pytest.approx(costs_s)
        assert moves_cost_s(model, plan, budget) == pytest.approx(sum(costs_s))


def test_where_batches_are_not_predicted_each_move_counts_for_itself() -> None:
    model = placed([1.0] * 4, [0, 0, 1, 1], migration_cost_s=np.array([0.5, 0.25, 0.5, 0.25]))
    plan = moved(model, [1, 1, 0, 1])
    assert in_waves(model, plan, HOUR) == (plan, tuple(move.cost_s for move in plan.moves))
    assert in_waves(model, plan, HOUR, (ORDERS,)) == (plan, tuple(move.cost_s for move in plan.moves))
    assert (spread_out(model, plan, HOUR), moves_cost_s(model, plan, HOUR)) == ((), 0.0)


def test_moves_of_several_queries_have_boundaries_of_their_own() -> None:
    model = pairs()
    ordered, costs_s = in_waves(model, moved(model, ONE_EACH), FREE, (ORDERS, CLICKS))
    assert boundaries_s((ORDERS, CLICKS), FREE) == {"a": 2.0, "b": pytest.approx(0.1)}
    assert [model.group_ids[move.group].operator for move in ordered.moves] == [0, 0, 1, 1]
    assert costs_s == pytest.approx((1.8, 0.0, 0.0, 0.9))  # 2 s have room for both of orders', 0.1 s only for one


def test_a_plan_without_moves_costs_nothing() -> None:
    model = pairs()
    unmoved = moved(model, model.node_of.tolist())
    assert in_waves(model, unmoved, HOUR, (ORDERS, CLICKS)) == (unmoved, ())
    assert moves_cost_s(model, unmoved, HOUR) == 0.0
