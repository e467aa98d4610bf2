"""CLB's greedy maximum cut (stateful load balancing, section 4, algorithm 2).

Left open by the paper and chosen here: of the two rules it prints for a split, those that vary WITH the chosen one
leave it (only that raises the cross covariance, equation 5); the threshold is a part of the largest covariance that
the two could have, since a bare number below 1 means nothing for a covariance of loads; where no one has a partner
above the threshold, the sets that are left stay empty.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray


def split_by_covariance(series: FloatArray, n_sets: int, theta: float = 0.0) -> IntArray:
    """Set of each group, 0 to n_sets - 1, (n_groups,). O(n_groups^2 (n_windows + n_sets)), n_groups^2 memory.

    Args:
        series: load of each group in each window, (n_windows, n_groups), 2 windows or more.
        n_sets: sets to make, 1 or more; some may be empty.
        theta: how strongly two must vary together to be parted, a correlation of 0 to 1 (not 1 itself).
    """
    if series.ndim != 2 or series.shape[0] < 2:
        raise ValueError(f"series: shape {series.shape} given, two windows or more of (n_windows, n_groups) are needed")
    if n_sets < 1:
        raise ValueError(f"n_sets: {n_sets} given, 1 or more is needed")
    if not 0 <= theta < 1:
        raise ValueError(f"theta: {theta} given, 0 or more and less than 1 is needed")
    covariance = _covariance(series)
    apart = _partners(covariance, theta)
    set_of = np.zeros(series.shape[1], dtype=np.int64)
    for new in range(1, n_sets):
        chosen = _heaviest(covariance, apart, set_of)
        if chosen is None:
            break
        set_of[apart[chosen] & (set_of == set_of[chosen])] = new
    return set_of


def _covariance(series: FloatArray) -> FloatArray:
    centred = series - series.mean(axis=0)
    result: FloatArray = centred.T @ centred / series.shape[0]
    return result


def _partners(covariance: FloatArray, theta: float) -> BoolArray:
    """True where two groups vary together; nobody is a partner of itself, nor one that never varies."""
    spread = np.sqrt(np.diag(covariance))
    apart: BoolArray = (covariance >= theta * np.outer(spread, spread)) & (spread > 0) & (spread > 0)[:, None]
    np.fill_diagonal(apart, False)
    return apart


def _heaviest(covariance: FloatArray, apart: BoolArray, set_of: IntArray) -> int | None:
    """The group with the largest sum of covariances with partners in its own set; None where no one has any."""
    near = apart & (set_of == set_of[:, None])
    if not near.any():
        return None
    weight = np.where(near, covariance, 0.0).sum(axis=1)
    weight[~near.any(axis=1)] = -np.inf
    return int(weight.argmax())
