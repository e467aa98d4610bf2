"""The baseline: what crosses nodes is counted pair by pair, and chains that fit on a node stay there."""

from __future__ import annotations

import numpy as np

from streamjob_planners.components.graph import OperatorGraph, Stream
from streamjob_planners.components.sparse_cut import crossing, instance_graph, sparse_cut


def two_chains() -> OperatorGraph:
    streams = tuple(Stream(source=i, target=i + 1, load=12.0) for i in (0, 1, 3, 4))
    return OperatorGraph(keys=(frozenset("a"),) * 6, streams=streams)


def test_every_instance_sends_to_every_instance_of_the_next() -> None:
    operator_of, traffic = instance_graph(two_chains(), np.array([2, 3, 1, 1, 1, 1]))
    assert operator_of.tolist() == [0, 0, 1, 1, 1, 2, 3, 4, 5]
    assert traffic[0, 2] == traffic[2, 0] == 2.0
    assert traffic[:2, 2:5].sum() == 12.0
    assert traffic.sum() == 2 * two_chains().total


def test_crossing_counts_each_pair_once() -> None:
    _, traffic = instance_graph(two_chains(), np.array([2, 1, 1, 1, 1, 1]))
    assert crossing(traffic, np.zeros(7, dtype=np.int64)) == 0.0
    assert crossing(traffic, np.arange(7)) == 48.0
    assert crossing(traffic, np.array([0, 1, 0, 0, 0, 0, 0])) == 6.0, "one of two instances of operator 0 is away"


def test_the_cut_keeps_chains_whole_and_fills_every_node() -> None:
    _, traffic = instance_graph(two_chains(), np.ones(6, dtype=np.int64))
    node_of = sparse_cut(traffic, np.ones(6), 2, seed=0)
    assert crossing(traffic, node_of) == 0.0
    assert set(node_of.tolist()) == {0, 1}


def test_more_nodes_than_instances_leave_some_empty() -> None:
    _, traffic = instance_graph(two_chains(), np.ones(6, dtype=np.int64))
    assert sorted(sparse_cut(traffic, np.ones(6), 9, seed=0).tolist()) == [0, 1, 2, 3, 4, 5]
