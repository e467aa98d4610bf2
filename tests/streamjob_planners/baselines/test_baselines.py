"""The rivals do what their papers say."""

import time

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners import measures
from streamjob_planners.baselines.cola import ColaPlanner, cola_owners
from streamjob_planners.baselines.flux import FluxPlanner, flux_owners
from streamjob_planners.baselines.non_integrated import NonIntegratedPlanner, drained_evenly
from streamjob_planners.baselines.potc import draw_choices, routed_load
from streamjob_planners.collocation.graph import undirected
from streamjob_planners.model import Budget, PlanParams
from streamjob_planners.units import Prices


def _never():
    return False


def _solve(planner, model, **params):
    return planner.solve(model, PlanParams(**params), np.random.default_rng(0), time.monotonic)


def _unit_prices(model, limit):
    return Prices(cost=np.ones(model.n_groups), limit=limit)


def test_flux_gives_the_largest_suitable_group_from_first_to_last(small_model):
    # Node 0 has 12, node 1 has 6, node 2 has 3: 8 fits (3 + 8 < 12), and 6 has no partner but itself.
    model = small_model([0, 0, 1, 2], [8.0, 4.0, 6.0, 3.0], n_nodes=3)
    assert flux_owners(model, _unit_prices(model, 1.0), _never).tolist() == [2, 0, 1, 2]


def test_flux_leaves_a_group_that_would_only_swap_the_roles(small_model):
    model = small_model([0, 1], [9.0, 1.0], n_nodes=2)
    assert flux_owners(model, _unit_prices(model, 5.0), _never).tolist() == [0, 1]


@pytest.mark.parametrize("budget", [0, 1, 3, 50])
def test_flux_never_raises_the_variance_and_keeps_the_budget(one_to_one, budget):
    model = one_to_one(6, 10, 2, seed=budget)
    model.load[model.node_of == 0] *= 3.0
    plan = _solve(FluxPlanner(), model, budget=Budget(max_migrations=budget))
    assert len(plan.moves) <= budget
    assert measures.utilisation(model, plan.node_of).var() <= measures.utilisation(model, model.node_of).var()


def test_cola_finds_clusters_from_scratch(small_model):
    links = {(i, j): 10.0 for i in range(8) for j in range(8) if i != j and i % 2 == j % 2}
    model = small_model([0, 0, 1, 1, 0, 0, 1, 1], [5.0] * 8, links, n_nodes=2)
    plan = _solve(ColaPlanner(), model, deadline_s=30.0, max_iterations=20_000)
    assert plan.after.collocation_factor == 100.0
    assert plan.after.load_distance == 0.0


def test_cola_splits_until_the_load_distance_is_kept(one_to_one):
    model = one_to_one(4, 20, 4, seed=2)
    graph = undirected(model.traffic)
    coarse = cola_owners(model, graph, 10.0, 0, _never)
    fine = cola_owners(model, graph, 0.5, 0, _never)
    assert measures.load_distance(model, coarse) <= 10.0
    assert measures.load_distance(model, fine) <= 0.5
    assert measures.collocation_factor(model, coarse) >= measures.collocation_factor(model, fine)


def test_cola_without_traffic_and_with_one_heavy_group_still_answers(small_model):
    model = small_model([0, 0, 0], [90.0, 1.0, 1.0], n_nodes=2)
    owners = cola_owners(model, sparse.csr_array((3, 3)), 1.0, 0, _never)
    assert measures.load_distance(model, owners) == pytest.approx(44.0)


def test_draining_evenly_looks_at_counts_not_at_loads(small_model):
    marked = np.array([False, False, True])
    model = small_model([0, 1, 2, 2, 2, 2], [90.0, 1.0, 5.0, 5.0, 5.0, 5.0], n_nodes=3, marked=marked)
    owners = drained_evenly(model, _unit_prices(model, 4.0))
    assert np.bincount(owners, minlength=3).tolist() == [3, 3, 0]


def test_the_non_integrated_way_drains_before_it_balances(small_model):
    marked = np.array([False, False, True])
    load = [60.0, 30.0, 10.0, 5.0, 5.0]
    model = small_model([0, 0, 1, 2, 2], load, n_nodes=3, marked=marked)
    params = {"budget": Budget(max_migrations=2), "tolerance": 0.0, "max_iterations": 20_000}
    drained = _solve(NonIntegratedPlanner(), model, **params)
    assert {move.group for move in drained.moves} == {3, 4}
    balanced = _solve(
        NonIntegratedPlanner(), small_model(drained.node_of.tolist(), load, n_nodes=3, marked=marked), **params
    )
    assert balanced.after.load_distance < drained.after.load_distance


def test_two_choices_balance_what_they_see_and_not_the_merge():
    rng = np.random.default_rng(0)
    choices = draw_choices(200, 10, rng)
    assert (choices.first != choices.second).all()
    load = rng.uniform(0.5, 1.5, 200)
    even = routed_load(choices, load, np.zeros(200), 10, rng)
    assert even.sum() == pytest.approx(load.sum())
    assert np.ptp(even) < 0.05 * even.mean()
    one_merges = routed_load(choices, load, np.where(np.arange(200) == 0, 30.0, 0.0), 10, rng)
    assert np.argmax(one_merges) == choices.first[0]
    assert one_merges.sum() == pytest.approx(load.sum() + 30.0)


def test_two_choices_need_two_nodes():
    with pytest.raises(ValueError, match="n_nodes"):
        draw_choices(5, 1, np.random.default_rng(0))
