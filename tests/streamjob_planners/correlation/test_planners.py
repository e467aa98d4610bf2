"""What the planners add to the listings: series of the model, budgets, marks, names of alike nodes."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from streamjob_planners import measures, registry
from streamjob_planners.correlation.mapping import mapping_of, pair_correlation
from streamjob_planners.correlation.names import rename
from streamjob_planners.correlation.profile import scaled_series
from streamjob_planners.model import Budget, GroupId, LoadModel, PlanParams
from streamjob_planners.verify import verify

NAMES = ("cor-glb", "cor-bal", "cor-re", "cor-se")
PARAMS = PlanParams(deadline_s=60.0, tolerance=0.0)
UP, DOWN = np.array([1.6, 1.6, 0.4, 0.4] * 2), np.array([0.4, 0.4, 1.6, 1.6] * 2)


def tides(node_of: list[int], *, load: float = 25.0) -> LoadModel:
    """Groups of one mean load; even ones are busy while odd ones are not. Two nodes."""
    n_groups = len(node_of)
    series = np.array([UP if k % 2 == 0 else DOWN for k in range(n_groups)]).T * load
    return LoadModel(
        node_ids=("a", "b"),
        capacity=np.ones(2),
        marked=np.zeros(2, dtype=np.bool_),
        group_ids=tuple(GroupId(operator=k % 2, partition=k // 2) for k in range(n_groups)),
        node_of=np.array(node_of),
        load=np.full(n_groups, load),
        migration_cost_s=np.ones(n_groups),
        state_bytes=np.ones(n_groups),
        pinned=np.zeros(n_groups, dtype=np.bool_),
        load_series=series,
    )


def solve(name: str, model: LoadModel, params: PlanParams = PARAMS):
    plan = registry.get(name).solve(model, params, np.random.default_rng(0), lambda: 0.0)
    assert verify(model, plan, params) == ()
    return plan


def spread(model: LoadModel, node_of: np.ndarray) -> float:
    """Greatest standard deviation of a node's load, points."""
    return max(float(model.load_series[:, node_of == i].sum(axis=1).std()) for i in range(model.n_nodes))


@pytest.mark.parametrize("name", ["cor-glb", "cor-re", "cor-se"])
def test_nodes_of_equal_mean_that_take_turns_in_being_overloaded_are_mixed(name):
    model = tides([0, 1] * 4, load=20.0)  # 80 points each, but 128 and 32 in turn
    plan = solve(name, model)
    assert spread(model, model.node_of) == pytest.approx(48.0)
    assert spread(model, plan.node_of) == pytest.approx(0.0, abs=1e-9)


def test_one_way_leaves_what_is_balanced():
    assert solve("cor-bal", tides([0, 1] * 4, load=20.0)).moves == ()


def test_one_way_sends_what_rises_with_the_giver_and_falls_with_the_taker():
    model = tides([0, 0, 0, 0, 0, 1])  # a: even, odd, even, odd, even; b: odd
    moved = [move.group for move in solve("cor-bal", model).moves]
    assert moved
    assert moved[0] % 2 == 0


@pytest.mark.parametrize("name", NAMES)
def test_without_a_series_nothing_moves_and_the_plan_says_why(name):
    for series in (None, np.zeros((0, 6))):
        plan = solve(name, dataclasses.replace(tides([0, 0, 0, 0, 0, 1]), load_series=series))
        assert plan.moves == ()
        assert any("No load series" in note for note in plan.notes)


@pytest.mark.parametrize("name", NAMES)
def test_marked_nodes_are_emptied_even_without_a_series(name):
    model = dataclasses.replace(tides([0, 0, 1]), marked=np.array([True, False]), load_series=None)
    for _ in range(2):
        model = dataclasses.replace(model, node_of=solve(name, model).node_of)
    assert not model.marked[model.node_of].any()


@pytest.mark.parametrize("name", NAMES)
def test_a_series_that_is_none_is_refused(name):
    model = tides([0, 1])
    for bad in (np.nan, -1.0, np.inf):
        with pytest.raises(ValueError, match="load_series"):
            solve(name, dataclasses.replace(model, load_series=np.full((3, 2), bad)))


def test_the_series_gives_the_shape_and_the_model_the_level():
    model = dataclasses.replace(tides([0, 1, 0]), load=np.array([10.0, 0.0, 40.0]))
    model = dataclasses.replace(model, load_series=np.array([[1.0, 5.0, 0.0], [3.0, 5.0, 0.0]]))
    assert scaled_series(model).tolist() == [[5.0, 15.0], [0.0, 0.0], [40.0, 40.0]]


@pytest.mark.parametrize("name", NAMES)
def test_a_budget_takes_the_moves_first_that_help_most(name):
    """Six groups of one node may go; the one move paid for is as good as any single move could be."""
    model = tides([0, 0, 0, 0, 0, 0])
    plan = solve(name, model, dataclasses.replace(PARAMS, budget=Budget(max_migrations=1)))
    assert len(plan.moves) == 1
    assert plan.after.load_distance < measures.load_distance(model, model.node_of)


def test_a_larger_budget_never_ends_with_less_balanced_nodes():
    rng = np.random.default_rng(4)
    model = tides(rng.integers(0, 2, 12).tolist(), load=12.0)
    model = dataclasses.replace(model, node_of=np.zeros(12, dtype=np.int64))
    found = [
        solve("cor-glb", model, dataclasses.replace(PARAMS, budget=Budget(max_migrations=n))).after.load_distance
        for n in range(7)
    ]
    assert found == sorted(found, reverse=True)
    assert found[-1] < found[0]


def test_alike_nodes_exchange_names_so_that_nothing_moves_for_a_name():
    model = tides([0, 0, 1, 1])
    mapping = mapping_of(model.load_series.T, model.node_of, model.capacity)
    mapping.restore(1 - model.node_of)
    rename(mapping)
    assert mapping.node_of.tolist() == model.node_of.tolist()


def test_unlike_nodes_keep_their_names():
    model = tides([0, 0, 1, 1])
    mapping = mapping_of(model.load_series.T, model.node_of, np.array([1.0, 2.0]))
    mapping.restore(1 - model.node_of)
    rename(mapping)
    assert mapping.node_of.tolist() == (1 - model.node_of).tolist()


def test_a_constant_node_correlates_with_nothing():
    model = tides([0, 0, 1])  # an even and an odd group add up to a constant
    mapping = mapping_of(model.load_series.T, model.node_of, model.capacity)
    assert pair_correlation(mapping, 0, 1) == 0.0
