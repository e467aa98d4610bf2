"""ELB as published (stateful load balancing, section 3, algorithm 1), for equal instances and no budget.

Left open by the paper and chosen here: an instance is overloaded above the mean (the hot spots' limit ``l_j - mean``
only makes sense so); one that nobody can hold goes back to its instance, or, if that one is removed, to the least
loaded; a substream without load stays.
"""

from __future__ import annotations

import dataclasses
import heapq
import math

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LoadRange:
    """The load that one instance should have, [v, u] in the paper; any unit, 0 <= low <= high, high above 0."""

    low: float
    high: float

    def __post_init__(self) -> None:
        if not (0 <= self.low <= self.high < math.inf and self.high > 0):
            raise ValueError(f"load range: [{self.low}, {self.high}] given, 0 <= low <= high and high > 0 is needed")

    @property
    def half_width(self) -> float:
        """(u - v) / 2: the most that a hot spot which moves may have."""
        return (self.high - self.low) / 2

    def parallelism(self, total: float) -> int:
        """Instances for a total load, ceil(2 w / (u + v)), at least 1."""
        return max(1, math.ceil(2 * total / (self.low + self.high) - 1e-9))


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Eager:
    """What ELB decides for one window.

    `node_of`: instance of each substream, (n_groups,), from 0 to `n_nodes` - 1 where instances were added; those in
    `removed` hold nothing any more.
    """

    node_of: IntArray
    n_nodes: int
    removed: tuple[int, ...]


def eager(load: FloatArray, node_of: IntArray, n_nodes: int, wanted: LoadRange) -> Eager:
    """One window of ELB. `load` and `node_of`: (n_groups,), instances from 0 to n_nodes - 1."""
    total = float(load.sum())
    parallelism = wanted.parallelism(total)
    count = max(n_nodes, parallelism)
    node_load = np.bincount(node_of, load, count).astype(np.float64)
    removed = np.zeros(count, dtype=np.bool_)
    removed[np.argsort(node_load, kind="stable")[: n_nodes - parallelism if parallelism < n_nodes else 0]] = True
    mean = total / parallelism
    queue = hot_spots(load, node_of, np.full(count, mean), np.full(count, wanted.half_width), removed)
    placed = _first_fit(load, node_of, queue, _Instances(node_load, removed, mean, wanted.high))
    return Eager(node_of=placed, n_nodes=count, removed=tuple(np.flatnonzero(removed).tolist()))


def hot_spots(load: FloatArray, node_of: IntArray, mean: FloatArray, most: FloatArray, removed: BoolArray) -> IntArray:
    """Phase two: what should leave its instance, largest first (the priority queue PQ), indices of groups.

    Args:
        load, node_of: of each group, (n_groups,).
        mean: the load that each instance should have, (n_nodes,).
        most: the largest load that may leave an overloaded instance, (n_nodes,).
        removed: instances that give everything, (n_nodes,).
    """
    node_load = np.bincount(node_of, load, mean.size)
    chosen = removed[node_of].copy()
    order = np.argsort(-load, kind="stable")
    for group in order[(load[order] > 0) & ~chosen[order]].tolist():
        node = node_of[group]
        if load[group] <= min(node_load[node] - mean[node], most[node]):
            chosen[group] = True
            node_load[node] -= load[group]
    return order[chosen[order]]


class _Instances:
    """Phase three's books: UI as a heap of (load, instance), and today's loads of all."""

    def __init__(self, node_load: FloatArray, removed: BoolArray, mean: float, high: float) -> None:
        self.load = node_load
        self.removed = removed
        self._mean = mean
        self._high = high
        self._heap = [(float(node_load[i]), i) for i in np.flatnonzero(~removed & (node_load <= mean)).tolist()]
        heapq.heapify(self._heap)

    def take(self, amount: float) -> int | None:
        """The least loaded underloaded instance, if it can hold that much."""
        if not self._heap or self._heap[0][0] + amount > self._high:
            return None
        load, node = heapq.heappop(self._heap)
        self.load[node] = load + amount
        if self.load[node] <= self._mean:
            heapq.heappush(self._heap, (float(self.load[node]), node))
        return node

    def force(self, amount: float) -> int:
        """The least loaded instance of all that stay; it counts as overloaded from now on."""
        node = int(np.where(self.removed, np.inf, self.load).argmin())
        self.load[node] += amount
        self._heap = [one for one in self._heap if one[1] != node]
        heapq.heapify(self._heap)
        return node


def _first_fit(load: FloatArray, node_of: IntArray, queue: IntArray, instances: _Instances) -> IntArray:
    placed = node_of.copy()
    for group in queue.tolist():
        amount, home = float(load[group]), int(node_of[group])
        instances.load[home] -= amount
        node = instances.take(amount)
        if node is None and instances.removed[home]:
            node = instances.force(amount)
        if node is None:
            instances.load[home] += amount
        else:
            placed[group] = node
    return placed
