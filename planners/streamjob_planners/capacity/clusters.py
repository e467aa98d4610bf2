"""Clusters of connections whose functions are alike (section 5.3): their samples are pooled."""

from __future__ import annotations

import math

import numpy as np
from scipy.cluster.hierarchy import fcluster, linkage
from scipy.spatial.distance import squareform

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.blocking import RISE

CUT = math.log(2.0)
"""Average distance up to which clusters are joined (not in the paper): a factor of two."""
NO_BLOCKING = 1e-3
"""A rate up to which a function counts as not blocking yet: a thousandth of the time."""


def knees(functions: FloatArray) -> IntArray:
    """Service rate of each connection as a weight: the last without blocking, 1 at least, (n,)."""
    floor = RISE * np.arange(functions.shape[1])
    blocking = functions - floor > NO_BLOCKING
    first = np.where(blocking.any(axis=1), blocking.argmax(axis=1), functions.shape[1])
    return np.asarray(np.maximum(first - 1, 1), dtype=np.int64)


def distances(functions: FloatArray) -> FloatArray:
    """Largest of the log ratios of knee, value at the knee and value at full weight (those by alpha), (n, n)."""
    steps = functions.shape[1] - 1
    alpha = math.log(steps) / abs(math.log(steps * RISE))
    knee = knees(functions)
    marks = (
        np.log(knee),
        alpha * np.log(functions[np.arange(knee.size), knee]),
        alpha * np.log(functions[:, steps]),
    )
    return np.asarray(np.max([np.abs(mark[:, None] - mark) for mark in marks], axis=0))


def clusters(functions: FloatArray) -> IntArray:
    """Cluster of each connection, 0 to k - 1 in order of their first members, (n,). Average linkage, cut at CUT."""
    n = functions.shape[0]
    if n < 2:
        return np.zeros(n, dtype=np.int64)
    joined = linkage(squareform(distances(functions), checks=False), method="average")
    label = fcluster(joined, t=CUT, criterion="distance")
    _, first, cluster = np.unique(label, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first))[cluster].astype(np.int64)
