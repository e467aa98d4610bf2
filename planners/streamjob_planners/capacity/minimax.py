"""The minimax separable resource allocation problem by Fox's greedy method (section 5.2)."""

from __future__ import annotations

import heapq

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray


def allocate(functions: FloatArray, low: IntArray, high: IntArray, total: int) -> IntArray:
    """Whole weights with the least possible largest function value, and `total` as their sum, (n,). O(n + total log n).

    Of equal values the smaller weight comes first, then the lower number. The sum is less than `total` only where even
    all of `high` is.

    Args:
        functions: value of each connection's function at weights 0, 1, 2, ..., never falling, (n, total + 1).
        low, high: least and largest weight of each, 0 <= low <= high <= total, (n,).

    Raises ValueError for bounds that contradict each other, or a sum of `low` above `total`.
    """
    _check(functions, low, high, total)
    weights = low.astype(np.int64)
    waiting = [_next(functions, weights, j) for j in np.flatnonzero(weights < high).tolist()]
    heapq.heapify(waiting)
    for _ in range(total - int(weights.sum())):
        if not waiting:
            break
        j = waiting[0][2]
        weights[j] += 1
        if weights[j] < high[j]:
            heapq.heapreplace(waiting, _next(functions, weights, j))
        else:
            heapq.heappop(waiting)
    return weights


def _next(functions: FloatArray, weights: IntArray, j: int) -> tuple[float, int, int]:
    return float(functions[j, weights[j] + 1]), int(weights[j]), j


def _check(functions: FloatArray, low: IntArray, high: IntArray, total: int) -> None:
    n = functions.shape[0]
    if functions.shape != (n, total + 1):
        raise ValueError(f"functions: shape {functions.shape} given, (n, {total + 1}) is needed")
    if low.shape != (n,) or high.shape != (n,):
        raise ValueError(f"low, high: shapes {low.shape} and {high.shape} given, ({n},) is needed")
    if bool(((low < 0) | (low > high) | (high > total)).any()):
        raise ValueError(f"low, high: 0 <= low <= high <= {total} is needed")
    if int(low.sum()) > total:
        raise ValueError(f"low: the sum {int(low.sum())} is above {total}")
