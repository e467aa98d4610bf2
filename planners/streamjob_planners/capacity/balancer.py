"""The splitter's balancer (section 5): samples in, weights out, once a second."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.capacity.blocking import STEPS, BlockingRates, pooled
from streamjob_planners.capacity.clusters import clusters
from streamjob_planners.capacity.minimax import allocate

MOST_CHANGE = 100
"""What a weight may change at a time, thousandths (the paper bounds it and gives no value: ten points)."""
EXPLORED_EVERY = 10
"""Steps between two decays. The paper's "iteration" has no length; with a decay a second, memory is gone before 64
connections, of which one blocks at a time, have been heard of once."""
CLUSTERED_FROM = 32
"""Connections from which on functions are clustered."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Balancer:
    """What is known and what is wanted. A value: `observed` gives the next one.

    Attributes:
        weights: thousandths of the tuples for each connection, their sum is 1000, (n,).
        rates: raw points of each connection.
        adaptive: LB-adaptive explores by letting points above the current weights decay; LB-static does not.
        cluster_of: clusters of the last step, (n,); None below CLUSTERED_FROM connections.
        steps: how many there were.
    """

    weights: IntArray
    rates: tuple[BlockingRates, ...]
    adaptive: bool = True
    cluster_of: IntArray | None = None
    steps: int = 0

    def observed(self, blocking: FloatArray) -> Balancer:
        """After one period in which the splitter was blocked for these parts of the time, 0 to 1, (n,)."""
        rates = tuple(
            one.observed(weight, rate)
            for one, weight, rate in zip(self.rates, self.weights.tolist(), blocking.tolist(), strict=True)
        )
        if self.adaptive and (self.steps + 1) % EXPLORED_EVERY == 0:
            rates = tuple(one.explored(weight) for one, weight in zip(rates, self.weights.tolist(), strict=True))
        functions = np.stack([one.function() for one in rates])
        cluster_of = None
        if len(rates) >= CLUSTERED_FROM:
            cluster_of = clusters(functions)
            functions = _shared(rates, cluster_of)
        low = np.maximum(self.weights - MOST_CHANGE, 0)
        high = np.minimum(self.weights + MOST_CHANGE, STEPS)
        weights = allocate(functions, low, high, STEPS)
        return dataclasses.replace(self, weights=weights, rates=rates, cluster_of=cluster_of, steps=self.steps + 1)


def even(n: int) -> IntArray:
    """Round robin: equal weights, (n,); what is left over goes to the first ones."""
    return np.full(n, STEPS // n, dtype=np.int64) + (np.arange(n) < STEPS % n)


def balancer(n: int, *, adaptive: bool = True) -> Balancer:
    """One that knows nothing yet. Raises ValueError for n outside 1 to 1000."""
    if not 1 <= n <= STEPS:
        raise ValueError(f"n: {n} given, 1 to {STEPS} connections are needed")
    return Balancer(weights=even(n), rates=(BlockingRates(),) * n, adaptive=adaptive)


def _shared(rates: tuple[BlockingRates, ...], cluster_of: IntArray) -> FloatArray:
    """The pooled function of each connection's cluster, (n, STEPS + 1)."""
    own = [pooled(rates[j] for j in np.flatnonzero(cluster_of == k)).function() for k in range(cluster_of.max() + 1)]
    return np.stack(own)[cluster_of]
