"""Pairs of nodes, and one-way load balancing between the two of a pair (section 5.2.1, figure 5.2)."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.correlation.mapping import Mapping
from streamjob_planners.correlation.scores import Score, best
from streamjob_planners.model import IntArray

EPSILON = 0.1
"""Part of a node's capacity by which two nodes must be apart to be balanced (table 6.2)."""

Step = Callable[[Mapping, int, int], None]
"""What is done to the two nodes of a pair, the more loaded one first."""


def pairs(mapping: Mapping, epsilon: float) -> list[tuple[int, int]]:
    """The most with the least loaded node, the second with the last but one, ..., if apart by more than `epsilon`.

    `epsilon` is in the unit of load over capacity. Nodes that may not receive are not paired.
    """
    use = mapping.use()
    nodes = np.flatnonzero(mapping.open_nodes)
    nodes = nodes[np.argsort(-use[nodes], kind="stable")]
    halves = zip(nodes[: nodes.size // 2].tolist(), nodes[::-1].tolist(), strict=False)
    return [(heavy, light) for heavy, light in halves if use[heavy] - use[light] > epsilon]


def one_way(score: Score) -> Step:
    """Figure 5.2: the more loaded node sends what scores best, within half of the difference.

    On unequal nodes that is (L1 C2 - L2 C1) / (C1 + C2) (section 5.3).
    """

    def step(mapping: Mapping, first: int, second: int) -> None:
        giver, taker = (first, second) if mapping.use()[first] >= mapping.use()[second] else (second, first)
        left, nodes = gap(mapping, giver, taker), np.array([giver, taker])
        candidates = mapping.on(giver)
        while (candidates := fitting(mapping, candidates, left, taker)).size:
            at = best(mapping, candidates, score(mapping, candidates, nodes, taker))
            left -= float(mapping.mean[candidates[at]])
            mapping.put(int(candidates[at]), taker)
            candidates = np.delete(candidates, at)

    return step


def gap(mapping: Mapping, giver: int, taker: int) -> float:
    """Load that the giver should send to the taker, of which both are then equally used."""
    load, capacity = mapping.total.mean(axis=1), mapping.capacity
    apart = load[giver] * capacity[taker] - load[taker] * capacity[giver]
    return float(apart / (capacity[giver] + capacity[taker]))


def fitting(mapping: Mapping, candidates: IntArray, left: float, taker: int) -> IntArray:
    """Candidates of less load than is left to send, and that the taker may take."""
    small = candidates[mapping.mean[candidates] < left]
    return small[mapping.takes(small, taker)] if small.size else small


def balance_pairs(mapping: Mapping, epsilon: float, step: Step, stop: Callable[[], bool]) -> None:
    """One round of a pair-wise algorithm; ends early, between two pairs, when `stop` says so."""
    for heavy, light in pairs(mapping, epsilon):
        if stop():
            return
        step(mapping, heavy, light)
