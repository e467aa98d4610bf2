"""The lower bound and the exact planner against every placement there is."""

from __future__ import annotations

import dataclasses
import itertools
import time

import numpy as np
import pytest

from streamjob_planners import bound, facts, registry
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams
from streamjob_planners.proof.grain import TooGrainy, takes_s
from streamjob_planners.proof.setting import setting_of

CASES = 240


def _case(seed: int) -> tuple[LoadModel, PlanParams]:
    rng = np.random.default_rng(seed)
    n_nodes, n_groups = int(rng.integers(2, 4)), int(rng.integers(1, 8))
    marked = np.zeros(n_nodes, dtype=np.bool_)
    marked[: rng.integers(0, n_nodes)] = rng.random() < 0.5
    budgets = [
        Budget(),
        Budget(max_migrations=int(rng.integers(0, 5))),
        Budget(max_cost_s=float(rng.uniform(0, 2))),
        Budget(max_state_bytes=float(rng.uniform(0, 2)), max_migrations=3),
    ]
    model = LoadModel(
        node_ids=tuple(f"n{i}" for i in range(n_nodes)),
        capacity=rng.uniform(0.5, 2.0, n_nodes) if rng.random() < 0.5 else np.ones(n_nodes),
        marked=marked,
        group_ids=tuple(GroupId(operator=0, partition=k) for k in range(n_groups)),
        node_of=rng.integers(0, n_nodes, n_groups),
        load=rng.lognormal(1, 1, n_groups) if rng.random() < 0.5 else rng.uniform(4, 6, n_groups),
        migration_cost_s=rng.uniform(0, 1, n_groups),
        state_bytes=rng.uniform(0, 1, n_groups),
        pinned=rng.random(n_groups) < 0.15,
    )
    return model, PlanParams(budget=budgets[seed % 4], tolerance=0.0, deadline_s=5.0)


def _allowed(model: LoadModel, budget: Budget, node_of: np.ndarray) -> bool:
    moved = node_of != model.node_of
    bills = (
        (model.migration_cost_s[moved].sum(), budget.max_cost_s),
        (moved.sum(), budget.max_migrations),
        (model.state_bytes[moved].sum(), budget.max_state_bytes),
    )
    return not (moved & (model.pinned | model.marked[node_of])).any() and all(
        limit is None or bill <= limit for bill, limit in bills
    )


def _least(model: LoadModel, params: PlanParams) -> float:
    places = (np.array(each) for each in itertools.product(range(model.n_nodes), repeat=model.n_groups))
    return min(facts.distance(model, place) for place in places if _allowed(model, params.budget, place))


@pytest.mark.parametrize("start", range(0, CASES, 40))
def test_no_placement_within_the_budget_is_below_the_bound(start):
    for seed in range(start, start + 40):
        model, params = _case(seed)
        assert bound.lower_bound(model, params) <= _least(model, params) + 1e-9, seed


@pytest.mark.parametrize("idle", [1e-2, 1e-4, 1e-12])
def test_a_heavy_group_that_cannot_move_makes_no_sets_of_its_size(small_model, idle):
    """Sets of sums are in units of what can move: of a heavy group's size they took gigabytes."""
    model = small_model([0] * 20 + [1] * 10 + [2] * 10, [90.0, idle, *[0.0] * 38], n_nodes=3)
    model = dataclasses.replace(model, pinned=np.arange(40) == 0)
    found = bound.lower_bound(model, PlanParams(budget=Budget(max_migrations=3)))
    assert found == pytest.approx(60.0 - idle / 3, abs=1e-3)


def test_the_bound_says_something_in_most_tight_cases():
    met = sum(
        bound.lower_bound(*_case(seed)) >= 0.5 * _least(*_case(seed)) > 0 for seed in range(CASES) if seed % 4 == 1
    )
    assert met >= CASES // 4 // 2


def test_without_moves_the_bound_is_todays_load_distance():
    model, params = _case(5)
    params = dataclasses.replace(params, budget=Budget(max_migrations=0))
    assert bound.lower_bound(model, params) == pytest.approx(facts.distance(model, model.node_of), rel=1e-5)


@pytest.mark.parametrize("name", ["milp", "search"])
def test_small_models_are_solved_to_the_optimum(name):
    planner = registry.get(name)
    for seed in range(40):
        model, params = _case(seed)
        model = dataclasses.replace(model, marked=np.zeros(model.n_nodes, dtype=np.bool_))
        params = dataclasses.replace(params, max_iterations=50_000)
        plan = planner.solve(model, params, np.random.default_rng(seed), time.monotonic)
        assert plan.after.load_distance == pytest.approx(_least(model, params), abs=2e-3), seed


def test_what_would_not_be_done_in_time_is_not_begun(problem_of, monkeypatch):
    """Sets of sums are left out where they take longer than what is left, and made where they do not."""
    begun = []

    class Grainy(TooGrainy):
        def __init__(self, setting, stop):
            begun.append(setting)
            super().__init__(setting, stop)

    monkeypatch.setattr(bound, "TooGrainy", Grainy)
    problem = problem_of(moves=8)
    needed_s = takes_s(setting_of(problem))
    assert needed_s > 0.0
    without = bound.bound_of(problem, left_s=lambda: 0.9 * needed_s)
    assert begun == []
    assert bound.bound_of(problem, left_s=lambda: needed_s) > without
    assert len(begun) == 1
