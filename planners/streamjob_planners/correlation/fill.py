"""Placing operators one by one: the least loaded node takes the one that scores best there (figures 5.3 and 5.6)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.correlation.scores import Score, best
from streamjob_planners.model import IntArray


def fill(mapping: Mapping, operators: IntArray, nodes: IntArray, score: Score, stop: Callable[[], bool]) -> bool:
    """Place operators from scratch on some nodes; False, and all as it was, where not every one finds room in time.

    A node that may take none of those left is passed over from then on: rooms only get fuller.
    """
    before = mapping.node_of.copy()
    mapping.lift(operators)
    left, receivers = operators, nodes
    while left.size and receivers.size and not stop():
        receiver = int(receivers[np.argmin(mapping.use()[receivers])])
        candidates = np.flatnonzero(mapping.takes(left, receiver))
        if candidates.size == 0:
            receivers = receivers[receivers != receiver]
            continue
        at = candidates[best(mapping, left[candidates], score(mapping, left[candidates], nodes, receiver))]
        mapping.put(int(left[at]), receiver)
        left = np.delete(left, at)
    if left.size:
        mapping.restore(before)
    return left.size == 0
