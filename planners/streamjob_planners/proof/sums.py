"""Loads that whole groups can add up to, as sets: sums of a node's own groups, and sums of any groups there are.

A set is one long integer, bit s standing for a load of s units; adding a group is a shift, joining sets an or. Loads
are rounded to units.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from streamjob_planners.model import IntArray
from streamjob_planners.proof.setting import Bands, Setting


class GroupSums:
    """The sets of one problem, each worked out once. Counts of groups go from 0 to `box`."""

    def __init__(self, setting: Setting, unit: float, box: int) -> None:
        """`unit`: percent points per unit."""
        self.setting = setting
        self.unit = unit
        self.box = box
        load = np.where(setting.problem.movable, setting.problem.model.load, 0.0)  # units are made for those that move
        self._rounded: IntArray = np.rint(load / unit).astype(np.int64)
        self._arriving: list[int] = []
        self._leaving: dict[int, list[int]] = {}

    def add_up(self, stop: Callable[[], bool] = lambda: False) -> bool:
        """Work out the sums of any groups, which takes the longest; False once `stop` says so."""
        loads = np.unique(self._rounded[self.setting.problem.movable]).tolist()
        sums = [1]
        for _ in range(self.box):
            further = 0
            for load in loads:
                further |= sums[-1] << load
            sums.append(further)
            if stop():
                return False
        self._arriving = sums
        return True

    def arriving(self, count: int) -> int:
        """Sums of so many groups, any group as often as wanted; `add_up` must have been called."""
        return self._arriving[count]

    def leaving(self, node: int) -> list[int]:
        """Sums of 0, 1, ... groups of a node."""
        if node not in self._leaving:
            sums = [1] + [0] * self.box
            for load in self._rounded[self.setting.own(node)].tolist():
                for count in range(self.box, 0, -1):
                    sums[count] |= sums[count - 1] << load
            self._leaving[node] = sums
        return self._leaving[node]


class Reachable:
    """Whether so many groups leaving and arriving could bring a node into its band; each answer worked out once."""

    def __init__(self, sums: GroupSums, bands: Bands, slack: Callable[[int], float]) -> None:
        """`slack`: percent points by which a band is widened, given how many groups cross."""
        self._sums = sums
        self._bands = bands
        self._slack = slack
        self._known: dict[tuple[int, int, int], bool] = {}
        self._wide: dict[tuple[int, int], int] = {}

    def __call__(self, node: int, leaving: int, arriving: int) -> bool:
        """Never no where rounding alone says so, if the slack is half a unit for each group that crosses."""
        key = (node, leaving, arriving)
        if key not in self._known:
            self._known[key] = self._meets(node, leaving, arriving)
        return self._known[key]

    def _meets(self, node: int, leaving: int, arriving: int) -> bool:
        unit, load, slack = self._sums.unit, self._sums.setting.loads[node], self._slack(leaving + arriving)
        least = math.floor((load - self._bands.high[node] - slack) / unit)
        most = math.ceil((load - self._bands.low[node] + slack) / unit)
        gone, come = self._sums.leaving(node)[leaving], self._sums.arriving(arriving)
        # Beyond what leaves or arrives at all nothing is met, however heavy is what cannot move.
        least, most = max(least, 1 - come.bit_length()), min(most, gone.bit_length() - 1)
        if least > most:
            return False
        allowed = self._widened(arriving, most - least)
        allowed = allowed << least if least >= 0 else allowed >> -least
        return bool(gone & allowed)

    def _widened(self, count: int, width: int) -> int:
        if (count, width) not in self._wide:
            self._wide[count, width] = _smear(self._sums.arriving(count), width)
        return self._wide[count, width]


def _smear(sums: int, width: int) -> int:
    """Every sum, and the `width` next higher numbers of each."""
    done = 1
    while done <= width:
        step = min(done, width + 1 - done)
        sums |= sums << step
        done += step
    return sums
