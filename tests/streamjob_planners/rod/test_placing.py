"""ROD and what it is compared with against slow versions; clusters, networks and resilience on small cases."""

from __future__ import annotations

import itertools
import math

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners.rod.baselines import at_random, by_correlation, connected, largest_load_first
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.placing import mmad, mmpd, rod
from streamjob_planners.rod.resilience import model_of_series, resilience


def drawn(seed: int, n_operators: int = 9, n_nodes: int = 3, n_sources: int = 2) -> LinearModel:
    rng = np.random.default_rng(seed)
    own = np.eye(n_sources)[rng.integers(0, n_sources, n_operators)]
    return LinearModel(
        coefficients=rng.uniform(0.1, 1.0, (n_operators, n_sources)) * np.maximum(own, rng.random(own.shape) < 0.2),
        capacity=np.ones(n_nodes) if seed % 2 else rng.uniform(0.5, 2.0, n_nodes),
    )


def slow_rod(model: LinearModel, lowest: list[float]) -> list[int]:
    """Figure 4.9 line by line, with the text's maximum."""
    lo, c = model.coefficients.tolist(), model.capacity.tolist()
    d, n = len(lo[0]), len(c)
    total = [math.fsum(row[k] for row in lo) for k in range(d)]
    norm = [math.sqrt(math.fsum((row[k] / total[k]) ** 2 for k in range(d))) for row in lo]
    ln, node_of = [[0.0] * d for _ in range(n)], [0] * len(lo)
    for j in sorted(range(len(lo)), key=lambda one: -norm[one]):
        w = [[(ln[i][k] + lo[j][k]) / total[k] / (c[i] / math.fsum(c)) for k in range(d)] for i in range(n)]
        first = [i for i in range(n) if all(value <= 1 + 1e-9 for value in w[i])]

        def distance(i: int, w=w) -> float:
            return (1 - math.fsum(a * b for a, b in zip(w[i], lowest, strict=True))) / math.hypot(*w[i])

        node_of[j] = max(first or range(n), key=lambda i: (round(distance(i), 12), -i))
        ln[node_of[j]] = [ln[node_of[j]][k] + lo[j][k] for k in range(d)]
    return node_of


@pytest.mark.parametrize("seed", range(40))
def test_rod_is_the_listing(seed):
    lowest = [0.0, 0.0] if seed % 4 < 2 else [0.2, 0.1]
    model = drawn(seed)
    assert rod(model, np.array(lowest)).tolist() == slow_rod(model, lowest)


def test_the_order_is_by_norm_of_normalised_coefficients():
    """A source in other units is the same source."""
    model = drawn(1)
    other = LinearModel(coefficients=model.coefficients * np.array([1000.0, 1.0]), capacity=model.capacity)
    assert rod(other).tolist() == rod(model).tolist()


def test_rod_is_near_the_best_of_all_placements_and_ahead_of_its_heuristics_alone():
    kept, alone, best = [], [], []
    for seed in range(1, 9, 2):
        model = drawn(seed, n_operators=7, n_nodes=2, n_sources=3)
        placements = (np.array(one) for one in itertools.product(range(2), repeat=7) if one[0] == 0)
        best.append(max(feasible_ratio(model.node_weights(one), points_log2=10) for one in placements))
        kept.append(feasible_ratio(model.node_weights(rod(model)), points_log2=10))
        alone.append([feasible_ratio(model.node_weights(f(model)), points_log2=10) for f in (mmad, mmpd)])
    assert all(a <= b for a, b in zip(kept, best, strict=True))
    assert np.mean(kept) >= 0.85 * np.mean(best)
    assert np.mean(kept) >= np.mean(alone, axis=0).min()


def test_a_lower_bound_helps_above_it():
    """Mean over worlds: above rates that are known to occur, the plan that knows them keeps more."""
    gained = []
    for seed in range(12):
        model = drawn(seed, n_operators=12, n_nodes=4, n_sources=2)
        lowest = np.array([0.6, 0.1])
        plans = [rod(model, lowest), rod(model)]
        gained.append(np.diff([feasible_ratio(model.node_weights(one), lowest) for one in plans])[0])
    assert np.mean(gained) <= 0.0


def test_operators_without_load_and_sources_without_operators_are_placed_somewhere():
    model = LinearModel(coefficients=np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0]]), capacity=np.ones(3))
    assert sorted(rod(model).tolist()) == [0, 1, 2]


def test_llf_takes_the_heaviest_first_to_the_least_used():
    model = LinearModel(coefficients=np.array([[1.0], [5.0], [4.0], [3.0]]), capacity=np.ones(2))
    assert largest_load_first(model, np.ones(1)).tolist() == [0, 0, 1, 1]


def test_random_deals_equal_counts():
    counts = np.bincount(at_random(drawn(1, n_operators=12), np.random.default_rng(3)))
    assert counts.tolist() == [4, 4, 4]


def test_connected_keeps_chains_together_and_balances():
    """Two chains of two equal operators on two nodes: each chain on a node of its own."""
    model = LinearModel(coefficients=np.array([[1.0, 0], [1.0, 0], [0, 1.0], [0, 1.0]]), capacity=np.ones(2))
    links = sparse.csr_array(np.array([[0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]], dtype=float))
    node_of = connected(model, np.ones(2), links)
    assert node_of[0] == node_of[1] != node_of[2] == node_of[3]


def test_correlation_separates_operators_of_one_input():
    model = LinearModel(coefficients=np.array([[1.0, 0], [1.0, 0], [0, 1.0], [0, 1.0]]), capacity=np.ones(2))
    rates = np.array([[1.6, 0.4], [0.4, 1.6], [1.6, 0.4], [0.4, 1.6]])
    node_of = by_correlation(model, rates)
    assert node_of[0] != node_of[1]
    assert node_of[2] != node_of[3]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("coefficients", np.ones(3)),
        ("coefficients", np.array([[-1.0]])),
        ("coefficients", np.array([[np.nan]])),
        ("capacity", np.zeros(0)),
        ("capacity", np.array([0.0])),
    ],
)
def test_bad_models_are_refused_by_field(field, value):
    with pytest.raises(ValueError, match=field):
        LinearModel(**{"coefficients": np.ones((2, 1)), "capacity": np.ones(2), field: value})


def survives(model: LinearModel, node_of, rates) -> bool:
    loads = np.bincount(node_of, model.coefficients @ rates, model.n_nodes)
    return bool((loads <= model.capacity * (1 + 1e-9)).all())


@pytest.mark.parametrize("seed", range(10))
def test_what_is_survived_is_survived_and_no_more(seed):
    """By trying: growth of one source, or of any mix, up to the figure; and just beyond it on the weak one."""
    rng, model = np.random.default_rng(seed), drawn(seed, n_operators=20, n_sources=3)
    rates = rng.uniform(0.2, 1.0, 3)
    rates *= 0.4 * model.capacity.sum() / (model.total @ rates)
    node_of = rod(model)
    found, today = resilience(model, node_of, rates), float(model.total @ rates)
    assert survives(model, node_of, rates * found.same_mix_ratio)
    assert not survives(model, node_of, rates * found.same_mix_ratio * 1.001)
    growth = today * (found.any_mix_ratio - 1)
    for mix in [*np.eye(3), *rng.dirichlet(np.ones(3), 50)]:
        assert survives(model, node_of, rates + growth * mix / model.total)
    worst = np.eye(3)[found.weak_source]
    assert not survives(model, node_of, rates + growth * 1.001 * worst / model.total)


def test_an_overloaded_node_shows_as_less_than_today():
    model = LinearModel(coefficients=np.array([[1.0], [1.0]]), capacity=np.ones(2))
    found = resilience(model, np.array([0, 0]), np.ones(1))
    assert found.same_mix_ratio == found.any_mix_ratio == pytest.approx(0.5)
    assert (found.full_node, found.weak_node, found.weak_source) == (0, 0, 0)


def test_without_load_there_is_nothing_to_grow():
    model = LinearModel(coefficients=np.array([[1.0], [1.0]]), capacity=np.ones(2))
    found = resilience(model, np.array([0, 1]), np.zeros(1))
    assert found.same_mix_ratio is None
    assert found.any_mix_ratio is None
    assert found.feasible_ratio == 1.0
    assert found.plane_distance_ratio == pytest.approx(1.0)
    assert found.sentence == "There is no load to grow."


def test_a_series_stands_for_sources_that_nobody_knows():
    """Two windows, one operator each: like one source per operator. Nodes of 10; 4 and 2 are used on average."""
    series = np.array([[8.0, 0.0], [0.0, 4.0]])
    model, rates = model_of_series(series, np.array([10.0, 10.0]))
    found = resilience(model, np.array([0, 1]), rates)
    assert found.same_mix_ratio == pytest.approx(2.5)
    assert found.any_mix_ratio == pytest.approx(1 + 6 / 6)  # operator 0 alone grows from 4 to 10, of 6 in all
    assert found.sentence == "Survives 2.0 x today's load whatever grows, 2.5 x if all of it grows alike."
    with pytest.raises(ValueError, match="series"):
        model_of_series(np.zeros((0, 2)), np.ones(1))
