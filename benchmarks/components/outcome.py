"""What each algorithm's plan costs when it runs: the two percentages of section 6.2 of the CBP paper."""

from __future__ import annotations

import dataclasses

import numpy as np
from benchmarks.components.adapting import INSTANCE_RPS, Adapter, needed
from benchmarks.components.topology import Topology

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.components.graph import Members
from streamjob_planners.components.sparse_cut import instance_graph, sparse_cut

NODE_RPS = INSTANCE_RPS
"""What one node processes in a second: so many nodes as the mean load needs at 70 %."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Outcome:
    """Percentages: of all processed tuples that were sent between components (or nodes), of what streams carry that
    was not, and of all state that one adaptation moved; and all state tuples moved over the run.
    """

    sent_pct: float
    saved_pct: float
    moved_pct: float
    moved_tuples: float


def of_components(topology: Topology, adapter: Adapter, plan: list[Members]) -> Outcome:
    """Within a component nothing is sent, however often it adapts."""
    sent = topology.graph.total - sum(topology.graph.inside(one) for one in plan)
    return _outcome(topology, adapter, sent, sum(adapter.cost(one) for one in plan))


def of_sparse_cut(topology: Topology, adapter: Adapter, seed: int) -> Outcome:
    """Operators adapt alone; their instances are where the sparse cut put them."""
    n_nodes = max(2, int(np.ceil(topology.input_rps.sum() / (0.7 * NODE_RPS))))
    crossed = crossing_parts(topology, adapter, n_nodes, seed)
    sent = sum(one.load * part for one, part in zip(topology.graph.streams, crossed, strict=True))
    alone = (frozenset({one}) for one in range(topology.graph.n_operators))
    return _outcome(topology, adapter, sent, sum(adapter.cost(one) for one in alone))


def crossing_parts(topology: Topology, adapter: Adapter, n_nodes: int, seed: int) -> list[float]:
    """The part of each stream that goes to another node; instances beyond those planned are on any."""
    graph = topology.graph
    instances = np.array([needed(rate) for rate in topology.input_rps])
    operator_of, traffic = instance_graph(graph, instances)
    node_of = sparse_cut(traffic, (topology.input_rps / instances)[operator_of], n_nodes, seed)
    rng = np.random.default_rng(seed)
    on_node = [
        _on_nodes(adapter.life(frozenset({one})).shares, node_of[operator_of == one], n_nodes, rng)
        for one in range(graph.n_operators)
    ]
    together = ((on_node[one.source] * on_node[one.target]).sum(axis=1) for one in graph.streams)
    return [1.0 - float(part.mean()) for part in together]


def _on_nodes(shares: FloatArray, planned: IntArray, n_nodes: int, rng: np.random.Generator) -> FloatArray:
    """The part of an operator's tuples on each node in each period, (n_adaptations, n_nodes)."""
    width = shares.shape[1]
    nodes = np.concatenate([planned, rng.integers(0, n_nodes, max(0, width - planned.size))])[:width]
    table = np.zeros((width, n_nodes))
    table[np.arange(width), nodes] = 1.0
    return np.asarray(shares @ table)


def _outcome(topology: Topology, adapter: Adapter, sent: float, moved: float) -> Outcome:
    states = float(topology.state_tuples.sum()) * adapter.n_adaptations
    return Outcome(
        sent_pct=100.0 * sent / topology.processed,
        saved_pct=100.0 * (1.0 - sent / topology.graph.total),
        moved_pct=100.0 * moved / states,
        moved_tuples=moved,
    )
