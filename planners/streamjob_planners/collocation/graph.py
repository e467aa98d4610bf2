"""The traffic between key groups as an undirected graph, and what a placement keeps local of it."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from streamjob_planners.model import FloatArray, IntArray


def undirected(traffic: sparse.csr_array) -> sparse.csr_array:
    """Bytes/s between two key groups in either direction, without self-traffic: symmetric, (n_groups, n_groups)."""
    both = sparse.coo_array(traffic + traffic.T)
    away = both.row != both.col
    return sparse.csr_array((both.data[away], (both.row[away], both.col[away])), shape=both.shape)


def affinity(graph: sparse.csr_array, node_of: IntArray, n_nodes: int) -> FloatArray:
    """Bytes/s between each key group and the key groups of each node, (n_groups, n_nodes)."""
    placed = sparse.csr_array(
        (np.ones(node_of.size), (np.arange(node_of.size), node_of)), shape=(node_of.size, n_nodes)
    )
    return np.asarray((graph @ placed).todense(), dtype=np.float64)


def local_traffic(graph: sparse.csr_array, node_of: IntArray) -> float:
    """Bytes/s between key groups of one node, each pair once."""
    edges = sparse.coo_array(graph)
    return float(edges.data[node_of[edges.row] == node_of[edges.col]].sum()) / 2.0


def contract(graph: sparse.csr_array, unit_of: IntArray, n_units: int) -> sparse.csr_array:
    """The graph between units of key groups: (n_units, n_units), traffic within a unit left out."""
    edges = sparse.coo_array(graph)
    row, col = unit_of[edges.row], unit_of[edges.col]
    away = row != col
    return sparse.csr_array(sparse.coo_array((edges.data[away], (row[away], col[away])), shape=(n_units, n_units)))
