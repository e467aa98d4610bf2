"""A balanced graph partitioner of our own: recursive bisection by greedy growth, refined by single moves.

Growth follows Karypis and Kumar's greedy graph growing, refinement the idea of Fiduccia and Mattheyses: move the vertex
with the greatest gain that keeps the balance, go on through losses, and keep the best state seen.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

from streamjob_planners.model import BoolArray, FloatArray, IntArray

_TRIES = 4
_SLACK = 0.01


def recursive_parts(graph: sparse.csr_array, weight: FloatArray, n_parts: int, seed: int) -> IntArray:
    """The part of each vertex, 0 to n_parts - 1; arguments as those of `balanced_parts`."""
    rng = np.random.default_rng(seed)
    parts = np.zeros(weight.size, dtype=np.int64)
    todo = [(np.arange(weight.size), 0, n_parts)]
    while todo:
        members, first_part, count = todo.pop()
        if count == 1 or members.size <= 1:
            parts[members] = first_part
            continue
        left_count = count // 2
        left = bisect(graph[members][:, members], weight[members], left_count / count, rng)
        todo.append((members[left], first_part, left_count))
        todo.append((members[~left], first_part + left_count, count - left_count))
    return parts


def bisect(graph: sparse.csr_array, weight: FloatArray, share: float, rng: np.random.Generator) -> BoolArray:
    """True for the vertices of the left side, which gets about `share` of the weight: the best of a few tries."""
    graph = sparse.csr_array(graph)
    best, best_cut = np.zeros(weight.size, dtype=np.bool_), np.inf
    for _ in range(_TRIES):
        left = _refine(graph, weight, share, _grow(graph, weight, share, int(rng.integers(weight.size))))
        cut = _cut(graph, left)
        if cut < best_cut:
            best, best_cut = left, cut
    return best


def _cut(graph: sparse.csr_array, left: BoolArray) -> float:
    side = left.astype(np.float64)
    return float(side @ (graph @ (1.0 - side)))


def _grow(graph: sparse.csr_array, weight: FloatArray, share: float, start: int) -> BoolArray:
    """Adds the vertex most attached to the left side until it has its share."""
    left = np.zeros(weight.size, dtype=np.bool_)
    pull = np.zeros(weight.size)
    pull[start] = 1.0
    missing = share * float(weight.sum())
    while missing > 0.0:
        vertex = int(np.argmax(np.where(left, -np.inf, pull)))
        if weight[vertex] > 2.0 * missing and left.any():
            break
        left[vertex] = True
        missing -= float(weight[vertex])
        _add_row(graph, vertex, pull, 1.0)
        if left.all():
            break
    return left


def _add_row(graph: sparse.csr_array, vertex: int, onto: FloatArray, factor: float) -> None:
    begin, end = graph.indptr[vertex], graph.indptr[vertex + 1]
    onto[graph.indices[begin:end]] += factor * graph.data[begin:end]


def _refine(graph: sparse.csr_array, weight: FloatArray, share: float, left: BoolArray) -> BoolArray:
    """One pass: every vertex moves at most once; the state with the least cut among the balanced ones stays."""
    left = left.copy()
    total = float(weight.sum())
    slack = max(_SLACK * total, float(weight.max(initial=0.0)) / 2.0)
    side = np.where(left, 1.0, -1.0)
    gain = -side * (graph @ side)  # what the cut loses when the vertex changes sides
    filled, free = float(weight[left].sum()) - share * total, np.ones(weight.size, dtype=np.bool_)
    score, best, best_score = 0.0, left.copy(), 0.0
    for _ in range(weight.size):
        after = filled - side * weight
        allowed = free & ((np.abs(after) <= slack) | (np.abs(after) < abs(filled)))
        if not allowed.any():
            break
        vertex = int(np.argmax(np.where(allowed, gain, -np.inf)))
        score += float(gain[vertex])
        filled = float(after[vertex])
        _flip(graph, vertex, side, gain)
        free[vertex] = False
        if score > best_score and abs(filled) <= slack:
            best, best_score = side > 0, score
    return np.asarray(best, dtype=np.bool_)


def _flip(graph: sparse.csr_array, vertex: int, side: FloatArray, gain: FloatArray) -> None:
    side[vertex] = -side[vertex]
    gain[vertex] = -gain[vertex]
    begin, end = graph.indptr[vertex], graph.indptr[vertex + 1]
    others = graph.indices[begin:end]
    gain[others] -= 2.0 * graph.data[begin:end] * side[vertex] * side[others]
