"""How many groups each node gives and takes: what a tight budget decides first, and what small steps rarely change.

At a distance, every node off its band needs one of a few pairs (groups leaving, groups arriving). A pass of the search
that is held to one such choice for all nodes, drawn by chance so that the moves suffice, only has to find out which
groups. Counts decide most where a few heavy groups make a node's excess: one more or one less is what is left to
choose, and no sequence of cheap steps leads from one choice to another.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem
from streamjob_planners.proof.setting import Setting, setting_of
from streamjob_planners.proof.sums import GroupSums, Reachable

BOX = 12
"""Most groups that may leave and arrive at a node that is off its band, together."""
MOST_GROUPS = 20_000
"""Key groups up to which counts are worked out: a few milliseconds each time."""
MOST_NODES = 100
"""Nodes off their band for which this is worth its time; with more of them single groups no longer count."""
UNITS_PER_GROUP = 100
"""Units of load that the mean group has."""
COARSE = 4
"""Units below which a distance is too small for them."""
STEP = 1.1
"""Ratio between distances for which pairs are worked out."""
MUCH = 0.1
"""Part of the mean group by which a distance is far from what counts allow."""
TRIES = 30
"""Draws until one keeps the budget."""
NOISE = 0.5
"""Groups by which a dearer pair may be preferred."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Choices:
    """Pairs of each node off its band, none of which another one of the same node undercuts in both counts.

    Attributes:
        distance: load distance that the bands are for, percent points.
        nodes: nodes off their band, (n_off,).
        out, back: counts of each pair, inf where a node has fewer, (n_off, most pairs).
    """

    distance: float
    nodes: IntArray
    out: FloatArray
    back: FloatArray


class Crossings:
    """Draws counts for a problem: deterministic for a state of the generator.

    Working out which counts a distance allows takes milliseconds of Python, so one thread does that (`prepare`,
    `further`), while others draw from what has been added (`draw`).
    """

    def __init__(self, problem: Problem) -> None:
        """Works out nothing yet."""
        self._problem = problem
        self._unit = float(problem.model.load.mean()) / UNITS_PER_GROUP if problem.model.n_groups else 0.0
        self._known: list[Choices] = []
        self._next: int | None = None

    @functools.cached_property
    def _setting(self) -> Setting:
        return setting_of(self._problem)

    @functools.cached_property
    def _sums(self) -> GroupSums:
        sums = GroupSums(self._setting, self._unit, int(min(BOX, self._setting.most_moves)))
        sums.add_up()
        return sums

    def prepare(self, low: float, high: float, stop: Callable[[], bool] = lambda: False) -> None:
        """Find the smallest distance between both for which the moves suffice, as far as counts tell.

        Nothing is found when counts decide nothing there, or not before `stop` says so.
        """
        low = max(low, COARSE * self._unit)
        if not 0 < low < high or self._problem.model.n_groups > MOST_GROUPS:
            return
        below, step = _step(low) - 1, _step(high)
        found = None
        while step - below > 1 and not stop():
            middle = (below + step) // 2
            choices = self._feasible(middle)
            below, step, found = (middle, step, found) if choices is None else (below, middle, choices)
        if found is not None and not stop():
            self.add(found)
            self._next = step + 1

    def allow_less(self, distance: float) -> bool:
        """Whether counts allow one that is smaller by a good part of a group: they decide then, not which groups."""
        return bool(self._known) and distance - self._known[0].distance > MUCH * UNITS_PER_GROUP * self._unit

    def further(self, high: float) -> Choices | None:
        """Those of the next larger distance, to be added; None when there is none below `high`."""
        if self._next is None or STEP**self._next >= high:
            return None
        step, self._next = self._next, self._next + 1
        return self._feasible(step)

    def add(self, choices: Choices) -> None:
        """Let draws use them from now on; their distances must ascend."""
        self._known.append(choices)

    def draw(self, low: float, high: float, rng: np.random.Generator) -> tuple[float, IntArray] | None:
        """A known distance below `high`, and with it most groups that leave and that arrive, (2, n_nodes).

        The smaller distances come up the more often. None when no distance is known there, or no draw kept the budget.
        """
        wanted = low + rng.random() ** 3 * (high - low)
        usable = [one for one in self._known if one.distance < high]
        if not usable:
            return None
        choices = [usable[0], *(one for one in usable if one.distance <= wanted)][-1]
        drawn = self._drawn(choices, rng)
        return None if drawn is None else (choices.distance, drawn)

    def _feasible(self, step: int) -> Choices | None:
        found = self._worked_out(STEP**step)
        return found if found is not None and self._drawn(found, np.random.default_rng(0)) is not None else None

    def _drawn(self, choices: Choices, rng: np.random.Generator) -> IntArray | None:
        moves, rows = self._setting.most_moves, np.arange(choices.nodes.size)
        for _ in range(TRIES):
            weight = rng.uniform(0.3, 0.7)
            price = weight * choices.out + (1 - weight) * choices.back + NOISE * rng.random(choices.out.shape)
            pick = price.argmin(axis=1)
            out, back = choices.out[rows, pick], choices.back[rows, pick]
            if max(out.sum(), back.sum()) <= moves:
                return self._limits(choices.nodes, out, back)
        return None

    def _limits(self, nodes: IntArray, out: FloatArray, back: FloatArray) -> IntArray:
        """The other nodes share what is left of the moves."""
        most = np.empty((2, self._setting.loads.size), dtype=np.int64)
        for row, counts in enumerate((out, back)):
            most[row] = int(self._setting.most_moves - counts.sum())
            most[row, nodes] = counts
        return most

    def _worked_out(self, distance: float) -> Choices | None:
        bands = self._setting.bands(distance)
        nodes = np.flatnonzero((bands.excess > 0) | (bands.lack > 0))
        if not 0 < nodes.size <= MOST_NODES:
            return None
        reachable = Reachable(self._sums, bands, lambda _: 0.0)
        pairs: list[list[tuple[int, int]]] = []
        for node in nodes.tolist():
            pairs.append(_least_pairs(node, reachable, self._sums.box))
            if not pairs[-1]:
                return None
        return _choices(distance, nodes, pairs)


def _step(distance: float) -> int:
    """The least step whose distance is not below."""
    return math.ceil(math.log(distance) / math.log(STEP))


def _least_pairs(node: int, reachable: Reachable, box: int) -> list[tuple[int, int]]:
    """The pairs with the fewest groups that meet the node's band, and those with one more that none undercuts."""
    found: list[tuple[int, int]] = []
    for crossing in range(1, box + 1):
        if found and crossing > sum(found[0]) + 1:
            break
        for out in range(crossing + 1):
            back = crossing - out
            undercut = any(one[0] <= out and one[1] <= back for one in found)
            if not undercut and reachable(node, out, back):
                found.append((out, back))
    return found


def _choices(distance: float, nodes: IntArray, pairs: list[list[tuple[int, int]]]) -> Choices:
    counts = np.full((2, nodes.size, max(len(some) for some in pairs)), np.inf)
    for row, some in enumerate(pairs):
        counts[:, row, : len(some)] = np.transpose(some)
    return Choices(distance=distance, nodes=nodes, out=counts[0], back=counts[1])
