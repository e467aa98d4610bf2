"""The partitioners: ours is judged by the same rules as METIS."""

import ctypes

import numpy as np
import pytest
from scipy import sparse

from streamjob_planners.collocation.partition import balanced_parts, metis_installed

PARTITIONERS = [
    False,
    pytest.param(True, marks=pytest.mark.skipif(not metis_installed(), reason="extra not installed")),
]


def _clusters(n_clusters, size, seed=0):
    """Dense clusters in random order with a weak ring between them; the cluster of each vertex."""
    rng = np.random.default_rng(seed)
    cluster = rng.permutation(np.repeat(np.arange(n_clusters), size))
    strong = (cluster[:, None] == cluster[None, :]) * 10.0
    weak = (np.abs(cluster[:, None] - cluster[None, :]) == 1) * 0.1
    table = strong + weak
    np.fill_diagonal(table, 0.0)
    return sparse.csr_array(table), cluster


def _cut(graph, parts):
    edges = sparse.coo_array(graph)
    return edges.data[parts[edges.row] != parts[edges.col]].sum() / 2.0


@pytest.mark.parametrize("metis", PARTITIONERS)
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_clusters_are_found(metis, seed):
    graph, cluster = _clusters(4, 10, seed)
    parts = balanced_parts(graph, np.ones(40), 4, seed, metis=metis)
    assert _cut(graph, parts) == pytest.approx(_cut(graph, cluster))


@pytest.mark.parametrize("metis", PARTITIONERS)
@pytest.mark.parametrize("n_parts", [2, 3, 7])
def test_parts_are_balanced(metis, n_parts):
    rng = np.random.default_rng(n_parts)
    graph = sparse.random_array((140, 140), density=0.05, rng=rng)
    weight = rng.uniform(0.5, 1.5, 140)
    parts = balanced_parts(sparse.csr_array(graph + graph.T), weight, n_parts, 0, metis=metis)
    weights = np.bincount(parts, weights=weight, minlength=n_parts)
    assert weights.min() > 0.75 * weight.sum() / n_parts
    assert weights.max() < 1.25 * weight.sum() / n_parts


@pytest.mark.parametrize("metis", PARTITIONERS)
def test_the_same_seed_gives_the_same_parts(metis):
    graph, _ = _clusters(5, 6)
    first = balanced_parts(graph, np.ones(30), 5, 7, metis=metis)
    assert np.array_equal(first, balanced_parts(graph, np.ones(30), 5, 7, metis=metis))


@pytest.mark.parametrize("metis", PARTITIONERS)
def test_corner_cases(metis):
    empty = sparse.csr_array((3, 3))
    assert balanced_parts(empty, np.ones(3), 1, 0, metis=metis).tolist() == [0, 0, 0]
    assert sorted(balanced_parts(empty, np.ones(3), 3, 0, metis=metis).tolist()) == [0, 1, 2]
    assert sorted(balanced_parts(empty, np.zeros(3), 5, 0, metis=metis).tolist()) == [0, 1, 2]
    assert set(balanced_parts(empty, np.zeros(3), 2, 0, metis=metis).tolist()) <= {0, 1}


@pytest.mark.parametrize("metis", PARTITIONERS)
@pytest.mark.parametrize("seed", range(10))
def test_giants_get_a_part_of_their_own_and_no_library_says_a_word(metis, seed, capfd):
    """METIS writes to the terminal when it is left with parts to make of no vertices."""
    rng = np.random.default_rng(seed)
    n_vertices, n_parts = int(rng.integers(30, 120)), int(rng.integers(8, 30))
    weight = np.append(rng.lognormal(0.0, 1.0, n_vertices - 1), 10.0 * n_vertices)
    graph = sparse.random_array((n_vertices, n_vertices), density=0.2, rng=rng)
    parts = balanced_parts(sparse.csr_array(graph + graph.T), weight, n_parts, 0, metis=metis)
    ctypes.CDLL(None).fflush(None)  # what a C library has written may still wait in its buffer
    assert capfd.readouterr() == ("", "")
    assert parts.min() >= 0
    assert parts.max() < n_parts
    if metis:
        assert np.count_nonzero(parts == parts[-1]) == 1
