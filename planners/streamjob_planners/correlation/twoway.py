"""Both nodes of a pair send to each other (section 5.2.1, figures 5.3 and 5.4)."""

from __future__ import annotations

import numpy as np

from streamjob_planners.correlation.fill import fill
from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.correlation.pairwise import Step, one_way
from streamjob_planners.correlation.scores import best, by_correlation

DELTA = 0.2
"""Score above which an operator may be exchanged (table 6.2)."""

send = one_way(by_correlation)


def redistribute(mapping: Mapping, first: int, second: int) -> None:
    """Figure 5.3, COR-RE: refill both nodes from empty, wherever operators were, then balance one way."""
    nodes = np.array([first, second])
    fill(mapping, np.concatenate((mapping.on(first), mapping.on(second))), nodes, by_correlation, lambda: False)
    send(mapping, first, second)


def exchange(delta: float) -> Step:
    """Figure 5.4, COR-SE: balance one way, swap what scores above `delta` (0 to 1), balance again.

    The listing takes the load sent from both nodes; a receiver's load grows, as the text has it.
    """

    def step(mapping: Mapping, first: int, second: int) -> None:
        send(mapping, first, second)
        for _ in range(mapping.on(first).size + mapping.on(second).size):
            if not _swap_one(mapping, first, second, delta):
                break
        send(mapping, first, second)

    return step


def _swap_one(mapping: Mapping, first: int, second: int, delta: float) -> bool:
    """The more loaded node sends its best operator, if that scores above `delta`."""
    use = mapping.use()
    giver, taker = (first, second) if use[first] > use[second] else (second, first)
    candidates = mapping.on(giver)
    candidates = candidates[mapping.takes(candidates, taker)]
    if candidates.size == 0:
        return False
    scores = by_correlation(mapping, candidates, np.array([giver, taker]), taker)
    at = best(mapping, candidates, scores)
    if scores[at] <= delta:
        return False
    mapping.put(int(candidates[at]), taker)
    return True
