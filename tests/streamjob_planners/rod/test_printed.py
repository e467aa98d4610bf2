"""What chapters 3 and 4 print: table 3.2, figures 3.3 and 4.2, and exact areas of feasible sets of two inputs."""

from __future__ import annotations

import math

import numpy as np
import pytest

from streamjob_planners.rod.distance import axis_distances, ideal_plane_distance, plane_distances
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.graph import Kind, Operator, linearise, streams
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.placing import rod

CHAINS = (
    Operator(cost=14.0, selectivity=1.0, sources=(0,)),
    Operator(cost=6.0, upstream=(0,)),
    Operator(cost=9.0, selectivity=0.5, sources=(1,)),
    Operator(cost=14.0, upstream=(2,)),
)
"""Figure 3.1 with the costs and selectivities of example 4."""
PLANS = {
    "a": ([0, 0, 1, 1], [[20.0, 0.0], [0.0, 16.0]]),
    "b": ([0, 1, 0, 1], [[14.0, 9.0], [6.0, 7.0]]),
    "c": ([0, 1, 1, 0], [[14.0, 7.0], [6.0, 9.0]]),
}


@pytest.fixture
def model() -> LinearModel:
    return LinearModel(coefficients=linearise(CHAINS, 2).coefficients, capacity=np.ones(2))


def area(weights: np.ndarray) -> float:
    """Exact part of the ideal triangle below all planes: the triangle, clipped by one plane after the other."""
    corners = [(0.0, 0.0), (1.0, 0.0), (0.0, 1.0)]
    for a, b in weights:
        kept = []
        for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True):
            here, there = 1 - a * x - b * y, 1 - a * u - b * v
            if here >= 0:
                kept.append((x, y))
            if here * there < 0:
                t = here / (here - there)
                kept.append((x + t * (u - x), y + t * (v - y)))
        corners = kept
    shoelace = sum(x * v - u * y for (x, y), (u, v) in zip(corners, corners[1:] + corners[:1], strict=True))
    return abs(shoelace)  # twice the area, and the triangle's own area is a half


def test_table_3_2_operator_loads(model):
    assert model.coefficients.tolist() == [[14.0, 0.0], [6.0, 0.0], [0.0, 9.0], [0.0, 7.0]]
    assert streams(CHAINS) == [(0, 1), (2, 3)]


@pytest.mark.parametrize("plan", PLANS)
def test_table_3_2_node_loads(model, plan):
    node_of, printed = PLANS[plan]
    loads = model.node_weights(np.array(node_of)) * model.capacity_share[:, None] * model.total
    assert loads == pytest.approx(np.array(printed))


def test_figure_3_3_plan_c_keeps_the_most_and_plan_a_the_least(model):
    kept = {plan: area(model.node_weights(np.array(node_of))) for plan, (node_of, _) in PLANS.items()}
    assert kept["a"] < kept["b"] < kept["c"] < 1.0
    assert kept["a"] == pytest.approx(0.5)


@pytest.mark.parametrize("plan", PLANS)
def test_figure_3_3_by_quasi_monte_carlo(model, plan):
    weights = model.node_weights(np.array(PLANS[plan][0]))
    assert feasible_ratio(weights) == pytest.approx(area(weights), abs=0.003)


def test_rod_finds_plan_c(model):
    node_of = rod(model)
    assert node_of[0] == node_of[3]
    assert node_of[1] == node_of[2]
    assert node_of[0] != node_of[1]


def test_figure_4_2_the_planes_of_plan_a_are_farther_on_no_axis(model):
    """Normalised, all plans' ideal plane cuts both axes at 1; plan (a) cuts them at one half."""
    distances = {plan: axis_distances(model.node_weights(np.array(node_of))) for plan, (node_of, _) in PLANS.items()}
    assert distances["a"].tolist() == [0.5, 0.5]
    assert distances["c"] == pytest.approx(np.array([20 / 28, 16 / 18]))
    assert ideal_plane_distance(2) == pytest.approx(1 / math.sqrt(2))


@pytest.mark.parametrize("seed", range(20))
def test_feasible_sets_of_two_inputs_have_their_exact_area(seed):
    rng = np.random.default_rng(seed)
    model = LinearModel(coefficients=rng.uniform(0, 1, (8, 2)), capacity=rng.uniform(0.5, 2.0, 3))
    weights = model.node_weights(rng.integers(0, 3, 8))
    assert feasible_ratio(weights) == pytest.approx(area(weights), abs=0.004)


def test_a_feasible_set_above_a_lower_bound_is_counted_above_it():
    """One node, and a second that takes half of input 0 only: above (0.5, 0) the triangle's corner is cut."""
    weights, lowest = np.array([[1.5, 1.0]]), np.array([0.5, 0.0])
    # x in [0.5, 2/3): of the triangle of side 0.5, what stays below 1.5 x + y <= 1 is a triangle 1/6 by 1/4.
    assert feasible_ratio(weights, lowest) == pytest.approx((1 / 6) * 0.25 / (0.5 * 0.5), abs=0.004)
    assert feasible_ratio(weights, np.array([0.7, 0.3])) == 0.0


def test_plane_distances_from_the_origin_and_from_lowest_rates():
    weights = np.array([[3.0, 4.0], [0.0, 0.0]])
    assert plane_distances(weights).tolist() == [0.2, math.inf]
    assert plane_distances(weights, np.array([0.1, 0.1]))[0] == pytest.approx((1 - 0.7) / 5)


def test_example_8_an_operator_of_varying_selectivity_cuts_its_chain():
    chain = (
        Operator(cost=2.0, selectivity=0.5, sources=(0,)),
        Operator(cost=4.0, selectivity=3.0, upstream=(0,), kind=Kind.VARYING),
        Operator(cost=5.0, selectivity=0.25, upstream=(1,)),
        Operator(cost=8.0, upstream=(2,)),
    )
    found = linearise(chain, 1)
    assert found.variable_of == (1,)
    assert found.coefficients.tolist() == [[2.0, 0.0], [2.0, 0.0], [0.0, 5.0], [0.0, 2.0]]


def test_example_9_a_joins_load_is_in_proportion_to_its_output():
    graph = (
        Operator(cost=1.0, sources=(0,)),
        Operator(cost=1.0, sources=(1,)),
        Operator(cost=6.0, selectivity=0.2, upstream=(0, 1), kind=Kind.JOIN),
        Operator(cost=3.0, upstream=(2,)),
    )
    found = linearise(graph, 2)
    assert found.coefficients[2].tolist() == pytest.approx([0.0, 0.0, 30.0])
    assert found.coefficients[3].tolist() == [0.0, 0.0, 3.0]


@pytest.mark.parametrize(
    ("operator", "field"),
    [
        (Operator(cost=1.0, sources=(2,)), "sources"),
        (Operator(cost=1.0, upstream=(0,)), "upstream"),
        (Operator(cost=1.0, selectivity=0.0, sources=(0,), kind=Kind.JOIN), "selectivity"),
    ],
)
def test_bad_graphs_are_refused_by_field(operator, field):
    with pytest.raises(ValueError, match=field):
        linearise((operator,), 1)
