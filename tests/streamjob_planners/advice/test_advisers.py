"""What every adviser promises, on the same graphs."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from streamjob_planners.advice import registry
from streamjob_planners.components.graph import Members, OperatorGraph, Stream

QUICK = settings(max_examples=15, derandomize=True, deadline=None)


@st.composite
def graphs(draw: st.DrawFn) -> OperatorGraph:
    """Up to nine operators, keys of one to three of four attributes, rows from lower numbers to higher ones."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    n = draw(st.integers(1, 9))
    keys = tuple(frozenset(rng.choice(list("abcd"), rng.integers(1, 4), replace=False).tolist()) for _ in range(n))
    pairs = [pair for pair in itertools.combinations(range(n), 2) if rng.random() < 0.4]
    streams = tuple(Stream(source=s, target=t, load=float(rng.uniform(1.0, 100.0))) for s, t in pairs)
    return OperatorGraph(keys=keys, streams=streams)


def between(graph: OperatorGraph, components: list[Members]) -> float:
    home = {one: place for place, members in enumerate(components) for one in members}
    return sum(one.load for one in graph.streams if home[one.source] != home[one.target])


@pytest.fixture(params=registry.names())
def adviser(request):
    return registry.get(request.param)


@QUICK
@given(graph=graphs())
@pytest.mark.parametrize("name", registry.names())
def test_every_operator_is_in_one_component_that_shares_a_key(name, graph):
    components = registry.get(name)(graph)
    assert sorted(one for members in components for one in members) == list(range(graph.n_operators))
    for members in components:
        assert all(
            graph.keys[one.source] & graph.keys[one.target]
            for one in graph.streams
            if {one.source, one.target} <= members
        )
        assert graph.is_component(members)
    assert registry.get(name)(graph) == components


def test_a_stream_between_equal_keys_is_kept_within(adviser):
    graph = OperatorGraph(keys=(frozenset("a"), frozenset("a")), streams=(Stream(source=0, target=1, load=5.0),))
    assert between(graph, adviser(graph)) == 0.0


def test_operators_without_a_common_attribute_stay_apart(adviser):
    graph = OperatorGraph(keys=(frozenset("a"), frozenset("b")), streams=(Stream(source=0, target=1, load=5.0),))
    assert len(adviser(graph)) == 2


@QUICK
@given(graph=graphs())
def test_the_default_is_never_dearer_than_another(graph):
    costs = {name: between(graph, registry.get(name)(graph)) for name in registry.names()}
    assert costs[registry.DEFAULT] <= min(costs.values()) + 1e-6


def test_an_unknown_name_is_refused_with_those_there_are():
    with pytest.raises(ValueError, match="greedy, mwsc"):
        registry.get("magic")
