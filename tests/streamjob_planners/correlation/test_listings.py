"""Every algorithm of chapter 5 against the slow version in conftest.py, placement by placement."""

from __future__ import annotations

import numpy as np
import pytest

from streamjob_planners.correlation.improve import improve_overloaded
from streamjob_planners.correlation.mapping import mapping_of
from streamjob_planners.correlation.pairwise import balance_pairs
from streamjob_planners.correlation.placing import cor_glb, place_all
from streamjob_planners.correlation.scores import correlation, largest_first
from streamjob_planners.correlation.twoway import exchange, redistribute, send


def never() -> bool:
    return False


@pytest.fixture
def mapping(case):
    return mapping_of(case.series, case.node_of, case.capacity)


def test_correlations_leave_the_operators_own_share_out(case, slow, mapping):
    nodes = np.arange(case.capacity.size)
    table = correlation(mapping, np.arange(case.node_of.size), nodes)
    for j in range(case.node_of.size):
        assert table[j] == pytest.approx([slow.rho(j, i) for i in nodes.tolist()], abs=1e-9)


def test_one_way(slow, mapping):
    balance_pairs(mapping, 0.1, send, never)
    for pair in slow.pairs(0.1):
        slow.one_way(*pair)
    assert mapping.node_of.tolist() == slow.node_of()


def test_two_way_redistribution(slow, mapping):
    redistribute(mapping, 0, 1)
    slow.redistribute(0, 1)
    assert mapping.node_of.tolist() == slow.node_of()


def test_selective_exchange(slow, mapping):
    exchange(0.2)(mapping, 0, 1)
    slow.exchange(0, 1)
    assert mapping.node_of.tolist() == slow.node_of()


@pytest.mark.parametrize("name", ["redistribute", "exchange"])
def test_improvement_of_nodes_that_may_be_overloaded(slow, mapping, name):
    improve_overloaded(mapping, 0.8, 1.0, redistribute if name == "redistribute" else exchange(0.2), never)
    slow.improve_overloaded(getattr(slow, name))
    assert mapping.node_of.tolist() == slow.node_of()


def test_global(slow, mapping):
    assert cor_glb(mapping, 0.1, 0.8, None, never)
    slow.glb()
    assert mapping.node_of.tolist() == slow.node_of()


def test_largest_load_first_is_that(case, mapping):
    assert place_all(mapping, largest_first, np.inf, never)
    load, nodes = np.zeros(case.capacity.size), {}
    for j in sorted(range(case.node_of.size), key=lambda j: -case.series[j].mean()):
        nodes[j] = int(np.argmin(load / case.capacity))
        load[nodes[j]] += case.series[j].mean()
    assert mapping.node_of.tolist() == [nodes[j] for j in range(case.node_of.size)]
