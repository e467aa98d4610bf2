"""`search` where loads swing: batches get short one by one, as a slow version of it finds, and nothing is lost."""

from __future__ import annotations

import dataclasses
import itertools
import time

import numpy as np
import pytest

from streamjob_planners import facts, registry
from streamjob_planners.model import Budget, LoadModel, Plan, PlanParams
from streamjob_planners.swings.rows import batches_of
from streamjob_planners.verify import verify


def solved(model: LoadModel, steps: int = 60_000, **params: object) -> Plan:
    settings = PlanParams(deadline_s=1e9, max_iterations=steps, **params)
    plan = registry.get("search").solve(model, settings, np.random.default_rng(1), time.perf_counter)
    assert verify(model, plan, settings) == ()
    return plan


def naive_s(model: LoadModel, node_of: np.ndarray, series: np.ndarray) -> float:
    """Window by window, level by level, node by node."""
    total = 0.0
    for row in series:
        for level in set(model.batch.level.tolist()):
            total += max(
                sum(row[k] for k in range(len(row)) if node_of[k] == node and model.batch.level[k] == level)
                for node in range(len(model.node_ids))
            )
    return total / len(series)


def test_two_sides_of_the_world_share_each_node_though_their_means_were_level_before(turning):
    """Means are as level as can be at first, and no more so afterwards."""
    model = turning([0] * 4 + [1] * 4, [0] * 4 + [1] * 4, n_nodes=2, task_s=[1.0] * 7 + [1.02])
    plan = solved(model)
    assert naive_s(model, model.node_of, model.load_series) == pytest.approx(12.0, rel=0.01)
    assert naive_s(model, plan.node_of, model.load_series) == pytest.approx(8.0, rel=0.01)
    assert len(plan.moves) == 4


def test_levels_are_evened_out_each(turning):
    sets, level = [0, 0, 1, 1] * 2, [0] * 4 + [1] * 4
    model = turning([0, 0, 1, 1] * 2, sets, n_nodes=2, level=level)
    plan = solved(model)
    assert naive_s(model, model.node_of, model.load_series) == pytest.approx(12.0)
    assert naive_s(model, plan.node_of, model.load_series) == pytest.approx(8.0)


@pytest.mark.parametrize("seed", range(6))
def test_it_finds_what_all_placements_hold(turning, seed):
    """Twelve key groups on two nodes, three moves: every placement by the slow version, the price of moves included."""
    rng = np.random.default_rng(seed)
    sets, level = np.arange(12) % 3, np.repeat([0, 1], 6)
    model = turning(rng.integers(0, 2, 12), sets, n_nodes=2, level=level, task_s=rng.uniform(0.5, 2.0, 12), hot=6.0)
    series = batches_of(model).task_s

    def cost(moved: tuple[int, ...]) -> float:
        node_of = model.node_of.copy()
        node_of[list(moved)] = 1 - node_of[list(moved)]
        return naive_s(model, node_of, series) + 0.01 * len(moved) / 10.0

    best = min(cost(moved) for count in range(4) for moved in itertools.combinations(range(12), count))
    plan = solved(model, budget=Budget(max_migrations=3))
    assert cost(tuple(move.group for move in plan.moves)) == pytest.approx(best)


def test_what_is_chance_of_each_group_changes_nothing(turning):
    """Half of each load is noise: the plan is that of a job of which no series is known."""
    model = turning([0, 1, 2, 0, 1, 2] * 10, [0] * 60, n_nodes=3, hot=1.0, noise=0.5)
    plan = solved(model)
    assert plan.node_of.tolist() == solved(dataclasses.replace(model, load_series=None)).node_of.tolist()


def test_moves_that_do_not_pay_are_not_made(turning):
    model = turning([0] * 4 + [1] * 4, [0] * 4 + [1] * 4, n_nodes=2, cost_s=100.0)
    assert solved(model).moves == ()


def test_a_budget_pins_and_resources_are_kept(turning):
    """`verify` says so; here, that something is still won."""
    pinned = np.array([True, False] * 4)
    model = turning([0] * 4 + [1] * 4, [0] * 4 + [1] * 4, n_nodes=2, pinned=pinned)
    plan = solved(model, budget=Budget(max_migrations=2))
    assert len(plan.moves) == 2
    assert naive_s(model, plan.node_of, model.load_series) == pytest.approx(10.0)


def test_what_leaves_a_marked_node_does_not_return(turning):
    marked = np.array([True, False, False])
    model = turning([0] * 4 + [1] * 4 + [2] * 4, [0, 1] * 6, n_nodes=3, marked=marked)
    plan = solved(model)
    assert facts.on_marked(model, plan.node_of) == 0


def test_the_same_seed_gives_the_same_plan_and_nothing_given_changes(turning):
    model = turning([0] * 6 + [1] * 6, [0, 1, 2] * 4, n_nodes=2, noise=0.1)
    before = model.load_series.copy(), model.node_of.copy(), model.batch.task_s.copy()
    assert solved(model).node_of.tolist() == solved(model).node_of.tolist()
    for was, now in zip(before, (model.load_series, model.node_of, model.batch.task_s), strict=True):
        assert np.array_equal(was, now)


@pytest.mark.parametrize("seed", range(25))
def test_the_judge_accepts_what_is_planned_for_any_cluster(turning, seed):
    """Slots, speeds, marks, pins and budgets as they come. Unless it drains, batches of the series take no longer, but
    for a twentieth that the order of tasks on slots may be worth, which `series_s` does not see."""
    rng = np.random.default_rng(seed)
    n_nodes, n_groups = int(rng.integers(2, 6)), int(rng.integers(20, 60))
    model = turning(
        rng.integers(0, n_nodes, n_groups),
        rng.permutation(np.arange(n_groups) % 3),
        n_nodes=n_nodes,
        level=rng.integers(0, 3, n_groups),
        noise=float(rng.uniform(0.0, 0.3)),
        task_s=rng.lognormal(0.0, 0.5, n_groups),
        pinned=rng.random(n_groups) < 0.2,
        marked=np.arange(n_nodes) < rng.integers(0, 2),
    )
    shape = dataclasses.replace(
        model.batch, slots=rng.integers(1, 4, n_nodes), speed=rng.uniform(0.5, 2.0, n_nodes), fixed_s=0.3
    )
    model = dataclasses.replace(model, batch=shape)
    plan = solved(model, steps=12_000, budget=Budget(max_migrations=int(rng.integers(1, 20))))
    if facts.on_marked(model, plan.node_of) == facts.on_marked(model, model.node_of):
        assert facts.series_s(model, plan.node_of) <= 1.05 * facts.series_s(model, model.node_of)
