"""What every initial placer promises, on the same worlds; then what each is for."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners.correlation.mapping import mapping_of, node_correlations
from streamjob_planners.placement import registry
from streamjob_planners.placement.world import World
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.resilience import resilience

QUICK = settings(max_examples=40, derandomize=True)


@st.composite
def worlds(draw: st.DrawFn) -> World:
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n_groups, n_nodes, n_operators = draw(st.integers(0, 30)), draw(st.integers(1, 6)), draw(st.integers(1, 4))
    told = draw(st.sets(st.sampled_from(["coefficients", "series", "sticky"])))
    busy = rng.random(n_groups) < draw(st.sampled_from([0.0, 0.7, 1.0]))
    return World(
        operator=rng.integers(0, n_operators, n_groups),
        capacity=np.ones(n_nodes) if draw(st.booleans()) else rng.uniform(0.5, 2.0, n_nodes),
        coefficients=rng.uniform(0.0, 1.0, (n_groups, 3)) * busy[:, None] if "coefficients" in told else None,
        series=rng.uniform(0.0, 2.0, (draw(st.integers(0, 6)), n_groups)) * busy if "series" in told else None,
        sticky=rng.random(n_groups) < 0.3 if "sticky" in told else None,
    )


@pytest.fixture(params=registry.names())
def placer(request):
    return registry.get(request.param)


@QUICK
@given(world=worlds())
@pytest.mark.parametrize("name", registry.names())
def test_every_group_gets_a_node_and_the_same_one_again(name, world):
    given_before = {field.name: getattr(world, field.name) for field in dataclasses.fields(world)}
    copies = {key: None if value is None else value.copy() for key, value in given_before.items()}
    first, second = (registry.get(name)(world).node_of for _ in range(2))
    assert first.shape == (world.n_groups,)
    assert first.dtype.kind == "i"
    assert world.n_groups == 0 or 0 <= first.min() <= first.max() < world.n_nodes
    assert first.tolist() == second.tolist()
    for key, value in copies.items():
        assert value is None or np.array_equal(value, given_before[key])


def test_every_node_has_something_to_do(placer):
    rng = np.random.default_rng(1)
    world = World(operator=np.repeat([0, 1, 2], 20), capacity=np.ones(5), series=rng.uniform(1.0, 3.0, (6, 60)))
    use = np.bincount(placer(world).node_of, world.series.mean(axis=0), 5)
    assert use.max() <= 1.25 * use.mean()
    assert use.min() >= 0.75 * use.mean()


def test_a_node_of_twice_the_capacity_gets_twice_the_load(placer):
    world = World(operator=np.repeat([0, 1], 30), capacity=np.array([2.0, 1.0, 1.0]), series=np.ones((4, 60)))
    counts = np.bincount(placer(world).node_of, minlength=3)
    assert counts[0] == pytest.approx(30, abs=3)


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("capacity", np.zeros(0)),
        ("capacity", np.array([-1.0])),
        ("operator", np.array([-1, 0])),
        ("coefficients", np.ones((3, 1))),
        ("series", np.ones((1, 3))),
        ("series", np.array([[np.nan, 0.0]])),
        ("sticky", np.zeros(3, dtype=bool)),
    ],
)
def test_bad_worlds_are_refused_by_field(field, value):
    with pytest.raises(ValueError, match=field):
        World(**{"operator": np.zeros(2, dtype=int), "capacity": np.ones(2), field: value})


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="cor-glb, rod, spread"):
        registry.get("magic")


def test_spread_deals_each_operator_evenly():
    world = World(operator=np.repeat([0, 1, 2], 4), capacity=np.ones(4))
    node_of = registry.get("spread")(world).node_of
    for operator in range(3):
        assert sorted(node_of[world.operator == operator].tolist()) == [0, 1, 2, 3]


def test_spread_does_not_give_every_remainder_to_the_first_nodes():
    world = World(operator=np.repeat(np.arange(4), 3), capacity=np.ones(4))
    assert np.bincount(registry.get("spread")(world).node_of).tolist() == [3, 3, 3, 3]


def test_rod_survives_more_than_spread_where_groups_are_unequal():
    rng = np.random.default_rng(2)
    load = rng.lognormal(0.0, 1.0, 40)
    operator = np.repeat([0, 1], 20)
    coefficients = np.where(operator[:, None] == np.arange(2), load[:, None], 0.0)
    world = World(operator=operator, capacity=np.full(4, load.sum() / 2), coefficients=coefficients)
    model = LinearModel(coefficients=coefficients, capacity=world.capacity)
    found = {n: resilience(model, registry.get(n)(world).node_of, np.ones(2)) for n in ("rod", "spread")}
    assert found["rod"].any_mix_ratio > found["spread"].any_mix_ratio
    assert found["rod"].feasible_ratio > found["spread"].feasible_ratio


def test_cor_glb_makes_nodes_rise_and_fall_together():
    rng = np.random.default_rng(3)
    waves = np.array([[1.6, 1.6, 0.4, 0.4], [0.4, 0.4, 1.6, 1.6], [0.4, 1.6, 1.6, 0.4]])
    series = (waves[rng.integers(0, 3, 30)] * rng.uniform(0.5, 1.5, (30, 1))).T
    world = World(operator=np.zeros(30, dtype=int), capacity=np.ones(3), series=series)
    spread_apart = {}
    for name in ("cor-glb", "spread"):
        mapping = mapping_of(series.T, registry.get(name)(world).node_of, world.capacity)
        spread_apart[name] = node_correlations(mapping)[np.triu_indices(3, 1)].mean()
    assert spread_apart["cor-glb"] > max(0.8, spread_apart["spread"])


def test_sticky_groups_are_placed_by_rod_and_the_others_around_them():
    rng = np.random.default_rng(5)
    series = rng.uniform(0.5, 2.0, (6, 24))
    sticky = np.arange(24) % 3 == 0
    world = World(operator=np.repeat([0, 1], 12), capacity=np.ones(3), series=series, sticky=sticky)
    alone = World(operator=world.operator[sticky], capacity=world.capacity, series=series[:, sticky])
    node_of = registry.get("cor-glb")(world).node_of
    assert node_of[sticky].tolist() == registry.get("rod")(alone).node_of.tolist()
    use = np.bincount(node_of, series.mean(axis=0), 3)
    assert use.max() <= 1.2 * use.mean()


def test_what_is_not_known_is_said():
    world = World(operator=np.zeros(6, dtype=int), capacity=np.ones(2))
    assert "No load" in registry.get("rod")(world).notes[0]
    assert "No load series" in registry.get("cor-glb")(world).notes[0]
    assert registry.get("spread")(world).notes == ()
