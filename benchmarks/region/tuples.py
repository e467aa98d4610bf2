"""The same region tuple by tuple: the slow and exact version, which re-routing needs (section 4.4).

Workers take tuples from a buffer each and put results into a queue each at the merger, of the same size unless told;
the merger lets results out in the order in which they were sent.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Sequence

from benchmarks.region.world import BUFFER_TUPLES, SPLITTER_RPS


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """Tuples merged a second, and the part of them that was sent elsewhere because the buffer was full."""

    merged_rps: float
    rerouted_ratio: float


class _Worker:
    """Times of the tuples that one worker got, in order."""

    def __init__(self, cost_s: float, results: int) -> None:
        self.cost_s, self._results = cost_s, results
        self.starts: list[float] = []
        self.merges: list[float] = []
        self._free_s = 0.0

    def room_s(self) -> float:
        """From when on its buffer has room."""
        full = len(self.starts) - int(BUFFER_TUPLES)
        return self.starts[full] if full >= 0 else 0.0

    def take(self, sent_s: float) -> float:
        """When the result of a tuple sent then is with the merger."""
        start = max(sent_s, self._free_s)
        held = len(self.merges) - self._results
        self._free_s = max(start + self.cost_s, self.merges[held] if held >= 0 else 0.0)
        self.starts.append(start)
        return self._free_s


def in_turn(weights: Sequence[int]) -> Iterator[int]:
    """Workers in weighted round robin, spread out: the one that is most behind its share."""
    total, got, sent = sum(weights), [0] * len(weights), 0
    while True:
        sent += 1
        worker = max(range(len(weights)), key=lambda j: weights[j] * sent / total - got[j])
        got[worker] += 1
        yield worker


def simulate(
    costs_s: Sequence[float], weights: Sequence[int], n_tuples: int, *, reroute: bool, results_ratio: float = 1.0
) -> Outcome:
    """So many tuples over workers of these costs; the first half is left out of the figures.

    `results_ratio`: what a worker's queue of results holds over what its buffer of tuples holds.
    """
    workers = [_Worker(cost, max(1, int(results_ratio * BUFFER_TUPLES))) for cost in costs_s]
    now_s = merged_s = half_s = 0.0
    rerouted = 0
    turn = in_turn(weights)
    for number in range(n_tuples):
        wanted = next(turn)
        now_s += 1 / SPLITTER_RPS
        chosen = wanted
        if reroute and workers[wanted].room_s() > now_s:
            chosen = min(range(len(workers)), key=lambda j: (max(now_s, workers[j].room_s()), j != wanted))
        now_s = max(now_s, workers[chosen].room_s())
        merged_s = max(merged_s, workers[chosen].take(now_s))
        workers[chosen].merges.append(merged_s)
        if number >= n_tuples // 2:
            rerouted += chosen != wanted
        else:
            half_s = merged_s
    counted = n_tuples - n_tuples // 2
    return Outcome(merged_rps=counted / (merged_s - half_s), rerouted_ratio=rerouted / counted)
