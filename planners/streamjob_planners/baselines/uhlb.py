"""UHLB: substreams to nodes by a hash drawn from a 2-universal family (stateful load balancing, section 5).

No planner, since it looks at nothing: the map of the paper's figures only. `h(k) = ((a k + b) mod P) mod n`, with a
prime P above every index (Carter and Wegman, 1979).
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.model import IntArray

PRIME = 2**31 - 1


def draw_hash(n_groups: int, n_nodes: int, rng: np.random.Generator) -> IntArray:
    """A node for each group by a freshly drawn hash, (n_groups,). Raises ValueError for more groups than the prime."""
    if not 0 <= n_groups < PRIME or n_nodes < 1:
        raise ValueError(
            f"n_groups, n_nodes: {n_groups} and {n_nodes} given, 0 to {PRIME - 1} and 1 or more are needed"
        )
    a, b = int(rng.integers(1, PRIME)), int(rng.integers(0, PRIME))
    return (np.arange(n_groups, dtype=np.int64) * a + b) % PRIME % n_nodes
