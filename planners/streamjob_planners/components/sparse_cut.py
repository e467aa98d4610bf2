"""The baseline (section 6.1): operators parallelised each by its own key, their instances placed by COLA's sparse cut.

Every instance of an operator sends to every instance of the next, since their keys have nothing to do with each other;
instances are then put on nodes by recursive balanced cuts with the least traffic (Khandekar et al., Middleware 2009).
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.collocation.partition import balanced_parts
from streamjob_planners.components.graph import OperatorGraph


def instance_graph(graph: OperatorGraph, instances: IntArray) -> tuple[IntArray, sparse.csr_array]:
    """The operator of each instance, (n_instances,), and the symmetric traffic between instances, all to all.

    `instances` is the parallelism of each operator, 1 or more, (n_operators,).
    """
    operator_of = np.repeat(np.arange(graph.n_operators), instances)
    first = np.concatenate([[0], np.cumsum(instances)])
    rows: list[IntArray] = []
    columns: list[IntArray] = []
    values: list[FloatArray] = []
    for one in graph.streams:
        here = np.arange(first[one.source], first[one.source + 1])
        there = np.arange(first[one.target], first[one.target + 1])
        share = one.load / (here.size * there.size)
        rows.append(np.repeat(here, there.size))
        columns.append(np.tile(there, here.size))
        values.append(np.full(here.size * there.size, share))
    n = operator_of.size
    if not values:
        return operator_of, sparse.csr_array((n, n))
    place = (np.concatenate(rows), np.concatenate(columns))
    one_way = sparse.csr_array((np.concatenate(values), place), shape=(n, n))
    return operator_of, sparse.csr_array(one_way + one_way.T)


def sparse_cut(traffic: sparse.csr_array, load: FloatArray, n_nodes: int, seed: int) -> IntArray:
    """The node of each instance, (n_instances,): the heaviest part is cut in two until there are n_nodes."""
    parts = [np.arange(load.size)]
    while len(parts) < n_nodes:
        order = sorted(range(len(parts)), key=lambda place: (-float(load[parts[place]].sum()), place))
        heaviest = next((place for place in order if parts[place].size > 1), None)
        if heaviest is None:
            break
        part = parts.pop(heaviest)
        labels = balanced_parts(traffic[part][:, part], load[part], 2, seed)
        if labels.min() == labels.max():
            labels = (np.arange(part.size) >= part.size // 2).astype(np.int64)
        parts += [part[labels == 0], part[labels == 1]]
    node_of = np.empty(load.size, dtype=np.int64)
    for node, part in enumerate(parts):
        node_of[part] = node
    return node_of


def crossing(traffic: sparse.csr_array, node_of: IntArray) -> float:
    """What instances send to instances on other nodes, in the unit of the streams."""
    cells = sparse.coo_array(traffic)
    apart = node_of[cells.row] != node_of[cells.col]
    return float(cells.data[apart].sum()) / 2.0
