"""Balanced graph partitioning: pymetis where it is installed, a partitioner of our own elsewhere.

Both give parts of about equal vertex weight with little edge weight between them (ALBIC paper, section 4.3.2, step 2).
"""

from __future__ import annotations

import importlib.util

import numpy as np
from scipy import sparse

from streamjob_planners.collocation.bisect import recursive_parts
from streamjob_planners.model import BoolArray, FloatArray, IntArray

_LARGEST_EDGE = 1_000_000
_LARGEST_VERTEX = 100_000
_SLACK_PER_MILLE = 30


def metis_installed() -> bool:
    """True when the optional extra `planners` is installed."""
    return importlib.util.find_spec("pymetis") is not None


def balanced_parts(
    graph: sparse.csr_array, weight: FloatArray, n_parts: int, seed: int, *, metis: bool | None = None
) -> IntArray:
    """The part of each vertex, 0 to n_parts - 1, (n_vertices,).

    Args:
        graph: symmetric edge weights, (n_vertices, n_vertices), no loops.
        weight: vertex weights, >= 0, (n_vertices,).
        n_parts: 1 or more; parts may be empty where there are fewer vertices.
        seed: same seed, same parts.
        metis: which partitioner; None takes pymetis where it is installed.
    """
    n_vertices = weight.size
    if n_parts <= 1 or n_vertices <= 1:
        return np.zeros(n_vertices, dtype=np.int64)
    if n_parts >= n_vertices:
        return np.arange(n_vertices, dtype=np.int64)
    if metis if metis is not None else metis_installed():
        return _around_giants(sparse.csr_array(graph), weight, n_parts, seed)
    return recursive_parts(graph, weight, n_parts, seed)


def _around_giants(graph: sparse.csr_array, weight: FloatArray, n_parts: int, seed: int) -> IntArray:
    """Each vertex heavier than a mean part is a part of its own; METIS cuts what is left.

    METIS divides parts by weight: beside a giant it would be left with parts to make of no vertices, and say so on the
    user's terminal.
    """
    giants = _giants(weight, n_parts)
    rest, left = np.flatnonzero(~giants), n_parts - int(giants.sum())
    parts = np.zeros(weight.size, dtype=np.int64)
    parts[giants] = left + np.arange(n_parts - left)
    if left >= rest.size:
        parts[rest] = np.arange(rest.size)
    elif left > 1:
        parts[rest] = _metis_parts(graph[rest][:, rest], weight[rest], left, seed)
    return parts


def _giants(weight: FloatArray, n_parts: int) -> BoolArray:
    """True for vertices heavier than a mean part of what is not as heavy, (n_vertices,); fewer than `n_parts`."""
    giants = np.zeros(weight.size, dtype=np.bool_)
    for vertex in np.argsort(-weight, kind="stable")[: n_parts - 1].tolist():
        if weight[vertex] * (n_parts - giants.sum()) <= weight[~giants].sum():
            break
        giants[vertex] = True
    return giants


def _metis_parts(graph: sparse.csr_array, weight: FloatArray, n_parts: int, seed: int) -> IntArray:
    import pymetis

    csr = sparse.csr_array(graph)
    edges = _whole_numbers(csr.data, _LARGEST_EDGE)
    vertices = _whole_numbers(weight, _LARGEST_VERTEX)
    _, parts = pymetis.part_graph(
        n_parts,
        adjacency=pymetis.CSRAdjacency(adj_starts=csr.indptr.tolist(), adjacent=csr.indices.tolist()),
        vweights=vertices.tolist(),
        eweights=edges.tolist(),
        options=pymetis.Options(seed=seed, ufactor=_SLACK_PER_MILLE),
    )
    return np.asarray(parts, dtype=np.int64)


def _whole_numbers(values: FloatArray, largest: int) -> IntArray:
    """Scaled to integers from 1 to `largest`, as METIS wants its weights."""
    top = float(values.max(initial=0.0))
    if top <= 0.0:
        return np.ones(values.size, dtype=np.int64)
    return np.maximum(np.rint(values / top * largest), 1.0).astype(np.int64)
