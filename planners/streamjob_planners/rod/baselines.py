"""What ROD is compared with: Random, LLF, Connected, Correlation and Max-Rate (section 6.1.2 and 6.1.3)."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from streamjob_planners.correlation.mapping import mapping_of
from streamjob_planners.correlation.placing import cor_glb
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.linear import LinearModel


def at_random(model: LinearModel, rng: np.random.Generator) -> IntArray:
    """Equally many operators on every node, whichever, (n_operators,)."""
    return rng.permutation(len(model.coefficients)) % model.n_nodes


def largest_load_first(model: LinearModel, rates: FloatArray) -> IntArray:
    """LLF: by falling load at these rates, (n_sources,), each to the node that is least used so far.

    With the greatest rates that were observed it is Max-Rate.
    """
    load, used = model.coefficients @ rates, np.zeros(model.n_nodes)
    node_of = np.zeros(load.size, dtype=np.int64)
    for operator in np.argsort(-load, kind="stable").tolist():
        node = int(np.argmin(used / model.capacity))
        node_of[operator] = node
        used[node] += load[operator]
    return node_of


def connected(model: LinearModel, rates: FloatArray, links: sparse.csr_array) -> IntArray:
    """Connected: balanced at these rates, with what is connected together as far as that goes, (n_operators,).

    The heaviest operator left goes to the least used node, which then takes operators connected to what it has been
    given, heaviest first, as long as it stays below the mean. `links`: symmetric, (n_operators, n_operators).
    """
    load, used = model.coefficients @ rates, np.zeros(model.n_nodes)
    node_of = np.full(load.size, -1, dtype=np.int64)
    mean = load.sum() / model.capacity.sum()
    for operator in np.argsort(-load, kind="stable").tolist():
        if node_of[operator] >= 0:
            continue
        node = int(np.argmin(used / model.capacity))
        candidates = [operator]
        while candidates:
            taken = candidates.pop(0)
            node_of[taken] = node
            used[node] += load[taken]
            near = links.indices[links.indptr[taken] : links.indptr[taken + 1]].tolist()
            candidates = sorted({*candidates, *near}, key=lambda one: (-load[one], one))
            room = mean * model.capacity[node] - used[node]
            candidates = [one for one in candidates if node_of[one] < 0 and load[one] <= room]
    return node_of


def by_correlation(model: LinearModel, rates: FloatArray) -> IntArray:
    """COR-GLB on the loads at a series of rates, (n_windows, n_sources), from scratch, (n_operators,)."""
    series = model.coefficients @ rates.T
    scale = float(model.capacity.sum()) / max(float(series.sum(axis=0).mean()), 1e-300)
    mapping = mapping_of(series * scale, np.zeros(len(series), dtype=np.int64), model.capacity)
    cor_glb(mapping, 0.1, 0.8, None, lambda: False)
    return mapping.node_of
