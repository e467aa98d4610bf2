"""Granularity: loads are sums of whole groups, so a node meets its band only with certain numbers of them.

For every node and every pair (groups leaving, groups arriving) within a box, the loads it can reach are worked out as
sets, not as intervals (`sums`). Loads are rounded to units, and a band is as much wider for that as the rounding of its
pair can amount to, so nothing reachable is ever missed.

A node off its band then has a least weighted number of groups that must leave and arrive. Every move is one departure
and one arrival: for any weighting w, the sum over the nodes of w * leaving + (1 - w) * arriving is at most the moves
allowed. What a plan does outside the box costs at least its edge.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from streamjob_planners.proof.setting import SLACK, Bands, Setting
from streamjob_planners.proof.sums import GroupSums, Reachable

BOX = 12
"""Counts of leaving and arriving groups that are looked at; beyond it only the box's edge counts."""
WEIGHTS = (0.5, 0.25, 0.4, 0.6, 0.75)
UNITS_PER_GROUP = 600
"""Units that the mean group has."""
MOST_WORK = 3e8
"""Words of 64 bits that building the sets may touch; units become coarser above it."""
WORDS_PER_S = 2.5e9
"""Words that are touched in a second until something may be refuted, about: 0.7e9 to 5e9 on fourteen models."""


class TooGrainy:
    """The counts that the nodes need to meet their bands are more than may move."""

    def __init__(self, setting: Setting, stop: Callable[[], bool]) -> None:
        """`stop`: when to give up, which refutes nothing."""
        self._setting = setting
        self._stop = stop
        self._box = int(min(BOX, setting.most_moves))
        self._sums = GroupSums(setting, _unit_of(setting, self._box), self._box)
        self._complete = self._sums.add_up(stop)
        self._orders = {weight: _cheapest_first(weight, self._box) for weight in WEIGHTS}

    def refutes(self, bands: Bands) -> bool:
        """Whether some weighting of the counts exceeds the moves."""
        if not self._complete:
            return False
        nodes = np.flatnonzero((bands.excess > 0) | (bands.lack > 0)).tolist()
        reachable = Reachable(self._sums, bands, self._rounding)
        return any(self._least(weight, nodes, reachable) > self._setting.most_moves + SLACK for weight in WEIGHTS)

    def _rounding(self, crossing: int) -> float:
        """What rounding can amount to when so many groups cross, percent points."""
        return crossing * self._sums.unit / 2 + SLACK * max(1.0, self._setting.problem.mean)

    def _least(self, weight: float, nodes: list[int], reachable: Reachable) -> float:
        edge = min(weight, 1 - weight) * (self._box + 1)
        total = 0.0
        for node in nodes:
            prices = (price for price, *pair in self._orders[weight] if price >= edge or reachable(node, *pair))
            total += min(edge, next(prices, edge))
            if self._stop():
                return 0.0
        return total


def takes_s(setting: Setting) -> float:
    """Seconds until something may be refuted, about: all sets are needed for that."""
    box = int(min(BOX, setting.most_moves))
    return _work(setting, box, _unit_of(setting, box)) / WORDS_PER_S


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
    while _work(setting, box, unit) > MOST_WORK:
        unit *= 2
    return unit


def _work(setting: Setting, box: int, unit: float) -> float:
    """Words that building the sets touches at most."""
    load = setting.problem.model.load[setting.problem.movable]
    if not load.size:
        return 0.0
    words = 1 + box * float(load.max()) / unit / 64
    values = min(load.size, float(load.max()) / unit)
    return box * words * (values + load.size)
