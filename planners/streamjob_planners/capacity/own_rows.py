"""Medians over each executor's key groups, row by row: who had which is worked out once for all cuts of a series."""

from __future__ import annotations

import numpy as np

from streamjob_planners.arrays import BoolArray, FloatArray, IntArray, median


class OwnRows:
    """Who ran which key group in which row.

    Attributes:
        executor: index of the executor of each key group in each row, -1 where nobody knows, (n_rows, n_groups).
        n_executors: how many there are.
    """

    def __init__(self, executor: IntArray, n_executors: int) -> None:
        self.executor, self.n_executors = executor, n_executors
        same = (executor == executor[:1]).all(axis=0)
        stirred = np.isin(executor, executor[:, ~same]) & (executor >= 0)
        self._stirred = np.nonzero(stirred)
        self._keys = self._stirred[0] * n_executors + executor[self._stirred]
        self._still = _by_count(executor[:1].ravel(), same & ~stirred.any(axis=0))

    def medians(self, values: FloatArray) -> FloatArray:
        """Of each executor's values in each row, (n_rows, n_executors); NaN where it has none. `values`: (n_rows,
        n_groups), no NaN."""
        found = np.full((len(values), self.n_executors), np.nan)
        if self._keys.size:
            there, middle = _medians(self._keys, values[self._stirred])
            found.flat[there] = middle
        for executors, columns in self._still:
            found[:, executors] = median(np.moveaxis(values[:, columns], -1, 0))
        return found


def _by_count(executor: IntArray, those: BoolArray) -> list[tuple[IntArray, IntArray]]:
    """Executors that have as many of `those` key groups, (n,), and these groups, (n, count), for each such number."""
    groups = np.flatnonzero(those & (executor >= 0))
    groups = groups[np.argsort(executor[groups], kind="stable")]
    names, first, counts = np.unique(executor[groups], return_index=True, return_counts=True)
    found = []
    for count in np.unique(counts).tolist():
        mine = counts == count
        found.append((names[mine], groups[first[mine][:, None] + np.arange(count)]))
    return found


def _medians(keys: IntArray, values: FloatArray) -> tuple[IntArray, FloatArray]:
    """Each key once, and the median of its values."""
    order = np.lexsort((values, keys))
    there, first, counts = np.unique(keys[order], return_index=True, return_counts=True)
    low, high = (values[order][first + at] for at in ((counts - 1) // 2, counts // 2))
    return there, (low + high) / 2.0
