"""Arrays of several queries' key groups, one after another."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from scipy import sparse

from streamjob_planners.model import FloatArray


def columns(values: Sequence[FloatArray], scales: Sequence[float] | None = None) -> FloatArray:
    """One column of all, each query's times its scale."""
    factors = [1.0] * len(values) if scales is None else scales
    return np.concatenate([one * factor for one, factor in zip(values, factors, strict=True)])


def optional(values: Sequence[FloatArray | None], scales: Sequence[float]) -> FloatArray | None:
    """The same; None where one of them does not tell."""
    told = [one for one in values if one is not None]
    return columns(told, scales) if len(told) == len(values) else None


def blocks(
    values: Sequence[sparse.csr_array | None], scales: Sequence[float], sizes: Sequence[int]
) -> sparse.csr_array | None:
    """Traffic of each query among its own key groups, (n_groups, n_groups); None where none tells any."""
    if all(one is None for one in values):
        return None
    parts = [
        sparse.csr_array((size, size)) if one is None else one * factor
        for one, factor, size in zip(values, scales, sizes, strict=True)
    ]
    return sparse.csr_array(sparse.block_diag(parts, format="csr"))
