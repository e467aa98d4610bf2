"""Granularity: loads are sums of whole groups, so a node meets its band only with certain numbers of them.

For every node and every pair (groups leaving, groups arriving) within a box, the loads it can reach are worked out as
sets, not as intervals: sums of its own groups, and sums of any groups there are. A set is one long integer, bit s
standing for a load of s units; adding a group is a shift, joining sets an or. Loads are rounded to units, and a band is
as much wider for that as the rounding of its pair can amount to, so nothing reachable is ever missed.

A node off its band then has a least weighted number of groups that must leave and arrive. Every move is one departure
and one arrival: for any weighting w, the sum over the nodes of w * leaving + (1 - w) * arriving is at most the moves
allowed. What a plan does outside the box costs at least its edge.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator

import numpy as np

from streamjob_planners.model import IntArray
from streamjob_planners.proof.setting import SLACK, Bands, Setting

BOX = 12
"""Counts of leaving and arriving groups that are looked at; beyond it only the box's edge counts."""
WEIGHTS = (0.5, 0.25, 0.4, 0.6, 0.75)
UNITS_PER_GROUP = 600
"""Units that the mean group has."""
MOST_WORK = 3e8
"""Words of 64 bits that building the sets may touch; units become coarser above it."""


class TooGrainy:
    """The counts that the nodes need to meet their bands are more than may move."""

    def __init__(self, setting: Setting, stop: Callable[[], bool]) -> None:
        """`stop`: when to give up, which refutes nothing."""
        self._setting = setting
        self._stop = stop
        self._box = int(min(BOX, setting.most_moves))
        self._unit = _unit_of(setting, self._box)
        problem = setting.problem
        self._rounded: IntArray = np.rint(problem.model.load / self._unit).astype(np.int64)
        self._arriving = self._sums_of_any()
        self._leaving: dict[int, list[int]] = {}
        self._orders = {weight: _cheapest_first(weight, self._box) for weight in WEIGHTS}

    def refutes(self, bands: Bands) -> bool:
        """Whether some weighting of the counts exceeds the moves."""
        if self._arriving is None:
            return False
        nodes = np.flatnonzero((bands.excess > 0) | (bands.lack > 0)).tolist()
        reachable = _Reachable(self, bands)
        return any(self._least(weight, nodes, reachable) > self._setting.most_moves + SLACK for weight in WEIGHTS)

    def _least(self, weight: float, nodes: list[int], reachable: _Reachable) -> float:
        edge = min(weight, 1 - weight) * (self._box + 1)
        total = 0.0
        for node in nodes:
            prices = (price for price, *pair in self._orders[weight] if price >= edge or reachable(node, *pair))
            total += min(edge, next(prices, edge))
            if self._stop():
                return 0.0
        return total

    def sums_leaving(self, node: int) -> list[int]:
        """Sets of sums of 0, 1, ... groups of a node."""
        if node not in self._leaving:
            sums = [1] + [0] * self._box
            for load in self._rounded[self._setting.own(node)].tolist():
                for count in range(self._box, 0, -1):
                    sums[count] |= sums[count - 1] << load
            self._leaving[node] = sums
        return self._leaving[node]

    def _sums_of_any(self) -> list[int] | None:
        """Sets of sums of 0, 1, ... groups, any group as often as wanted; None when there is no time."""
        loads = np.unique(self._rounded[self._setting.problem.movable]).tolist()
        sums = [1]
        for _ in range(self._box):
            further = 0
            for load in loads:
                further |= sums[-1] << load
            sums.append(further)
            if self._stop():
                return None
        return sums

    def meets(self, node: int, pair: tuple[int, int], bands: Bands, widened: Callable[[int, int], int]) -> bool:
        """Whether some groups leaving and arriving, so many of each, could bring the node into its band."""
        rounding = sum(pair) * self._unit / 2 + SLACK * max(1.0, self._setting.problem.mean)
        least = math.floor((self._setting.loads[node] - bands.high[node] - rounding) / self._unit)
        most = math.ceil((self._setting.loads[node] - bands.low[node] + rounding) / self._unit)
        allowed = widened(pair[1], most - least)
        allowed = allowed << least if least >= 0 else allowed >> -least
        return bool(self.sums_leaving(node)[pair[0]] & allowed)

    def sums_arriving(self, count: int) -> int:
        """Set of sums of so many groups."""
        return 0 if self._arriving is None else self._arriving[count]


class _Reachable:
    """Answers at one distance, each worked out once."""

    def __init__(self, grain: TooGrainy, bands: Bands) -> None:
        self._grain = grain
        self._bands = bands
        self._known: dict[tuple[int, int, int], bool] = {}
        self._wide: dict[tuple[int, int], int] = {}

    def __call__(self, node: int, leaving: int, arriving: int) -> bool:
        key = (node, leaving, arriving)
        if key not in self._known:
            self._known[key] = self._grain.meets(node, (leaving, arriving), self._bands, self._widened)
        return self._known[key]

    def _widened(self, count: int, width: int) -> int:
        if (count, width) not in self._wide:
            self._wide[count, width] = _smear(self._grain.sums_arriving(count), width)
        return self._wide[count, width]


def _smear(sums: int, width: int) -> int:
    """Every sum, and the `width` next higher numbers of each."""
    done = 1
    while done <= width:
        step = min(done, width + 1 - done)
        sums |= sums << step
        done += step
    return sums


def _cheapest_first(weight: float, box: int) -> list[tuple[float, int, int]]:
    """Pairs of counts with their price, cheapest first."""
    return sorted((weight * out + (1 - weight) * back, out, back) for out, back in _pairs(box))


def _pairs(box: int) -> Iterator[tuple[int, int]]:
    return ((out, back) for out in range(box + 1) for back in range(box + 1) if out + back > 0)


def _unit_of(setting: Setting, box: int) -> float:
    """Percent points per unit: fine, but so coarse that building the sets stays cheap."""
    load = setting.problem.model.load[setting.problem.movable]
    if not load.size or load.max() <= 0:
        return 1.0
    unit = float(load.mean()) / UNITS_PER_GROUP
    while True:
        words = 1 + box * float(load.max()) / unit / 64
        values = min(load.size, float(load.max()) / unit)
        if box * words * (values + load.size) <= MOST_WORK:
            return unit
        unit *= 2
