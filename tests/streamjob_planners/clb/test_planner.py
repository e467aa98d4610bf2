"""CLB as a planner: what swings together parts, within the budget, and nothing happens without a series."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners.clb.planner import ClbPlanner, relabelled
from streamjob_planners.clb.walk import Walk
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.problem import compile_problem
from streamjob_planners.spread import spread
from streamjob_planners.verify import verify

RUSH = 10.0 + 8.0 * np.sin(np.arange(24) / 24 * 2 * np.pi)
"""One group's load over a day of 24 windows; 20 - RUSH is the other side of the world."""


def _solve(model, **params):
    return ClbPlanner().solve(model, PlanParams(**params), np.random.default_rng(0), lambda: 0.0)


@pytest.fixture
def two_sides(small_model):
    """Four groups of each side of the world, each side on one node: equal means, opposite swings."""
    series = np.stack([RUSH] * 4 + [20.0 - RUSH] * 4, axis=1)
    model = small_model([0] * 4 + [1] * 4, series.mean(axis=0).tolist(), n_nodes=2)
    return dataclasses.replace(model, load_series=series)


def test_both_sides_of_the_world_share_each_node(two_sides):
    plan = _solve(two_sides)
    assert verify(two_sides, plan, PlanParams()) == ()
    before, after = spread(two_sides, two_sides.node_of), spread(two_sides, plan.node_of)
    assert before.peak == pytest.approx(32.0, abs=0.5)
    assert after.peak == pytest.approx(0.0, abs=1e-9)
    assert len(plan.moves) == 4


def test_a_budget_is_kept_and_used_by_the_best_steps(two_sides):
    plan = _solve(two_sides, budget=Budget(max_migrations=2))
    assert len(plan.moves) == 2
    assert spread(two_sides, plan.node_of).rms < spread(two_sides, two_sides.node_of).rms


def test_without_a_series_nothing_moves_and_a_note_says_why(two_sides):
    plan = _solve(dataclasses.replace(two_sides, load_series=None))
    assert plan.moves == ()
    assert "No series of loads was kept" in plan.notes[0]


def test_what_steps_claim_is_what_they_change(two_sides):
    rng = np.random.default_rng(4)
    series = rng.uniform(0.0, 9.0, (7, 8))
    model = dataclasses.replace(two_sides, load_series=series, load=series.mean(axis=0), capacity=np.array([1.0, 2.0]))
    walk = Walk(compile_problem(model, PlanParams()), series)
    start, changes, swaps = walk.imbalance(), walk._move_change(), walk._swap_change()
    for group in range(8):
        other = Walk(compile_problem(model, PlanParams()), series)
        node = 1 - int(model.node_of[group])
        other.books.move(group, node)
        other._refresh()
        assert other.imbalance() - start == pytest.approx(changes[group, node], abs=1e-6)
    other = Walk(compile_problem(model, PlanParams()), series)
    assert other._exchange(0, 5)
    other._refresh()
    assert other.imbalance() - start == pytest.approx(swaps[0, 5], abs=1e-6)


def test_sets_go_where_most_of_their_state_is():
    places = relabelled(np.array([0, 0, 1, 1]), np.array([3, 1, 1, 1]), np.array([1, 3]), np.ones(4))
    assert places.tolist() == [1, 0]


def test_too_many_groups_are_left_with_a_note(small_model):
    count = 4001
    model = small_model([0] * count, [0.01] * count, n_nodes=2, load_series=np.ones((2, count)))
    plan = _solve(model, deadline_s=0.01)
    assert plan.moves == ()
    assert "too many" in plan.notes[0]


def test_a_threshold_out_of_range_is_refused():
    with pytest.raises(ValueError, match="theta"):
        ClbPlanner(theta=1.0)
