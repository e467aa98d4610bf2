"""Counts of journeys: how many heavy and light groups leave and arrive at each node, such that the most plans are left.

A plan within a distance is a set of groups that leaves each node and one that arrives, which bring it into its band.
How many pairs of sets a node has for given counts is known for what leaves; for what arrives it is what is to be
expected, as heavy groups travel more than light ones. The product over all nodes is about how many plans have these
counts, so the counts with the largest one, of those that balance and keep the budget, are where to look for a plan.
"""

from __future__ import annotations

import functools
import math

import numpy as np

from streamjob_planners import measures
from streamjob_planners.kernel.journeys import Options, choose_for_all, count_sets
from streamjob_planners.kernel.state import Fixed
from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem

MOST_OUT, MOST_IN = 6, 4
"""Groups that leave and that arrive at a node, at most."""
TRAVELS, MOST_LIKELY = 1.5, 0.6
"""A group's expected part in the journeys grows with this power of its load, up to that."""
STEP = 1.2
"""Ratio between distances that counts are worked out for."""
CELLS_PER_DISTANCE, MOST_CELLS, BEYOND = 2, 1500, 15.0
"""Cells of load that a distance has; in all at most; and what they reach beyond the node farthest off, as a number of
mean loads of a group."""
WINDOW = np.array([0.5, 1.0, 1.0, 1.0, 0.5])
"""Cells that bring a node into its band, from below to above."""
RARE = 0.05
"""Pairs of sets that must be expected for counts to be chosen."""
NOISE = 0.5
"""By chance, some counts count for more plans than they have: scale of the logarithm's error."""
PRICES, DEAREST = 10, 40.0
"""Prices of a journey that are tried, by bisection, until the budget is kept; and the highest one."""
WIDE = 12.0
"""Logarithm of how many fewer plans counts may have than the best ones of the node, to be looked at."""
IMBALANCE = 7
"""Groups by which what leaves and what arrives may differ before the last node."""


def off_at(problem: Problem, node_of: IntArray) -> FloatArray:
    """What each node has above the mean under a placement, less than 0 where it lacks that, (n_nodes,)."""
    return measures.node_loads(problem.model, node_of) - problem.mean * problem.model.capacity


class JourneyCounts:
    """Draws counts: deterministic for a state of the generator. Threads share what they work out."""

    def __init__(self, problem: Problem, fixed: Fixed, heavy: BoolArray, most_moves: int) -> None:
        """`fixed`: with its groups sorted; `heavy`: which groups are, (n_groups,); `most_moves`: of the budget."""
        model = problem.model
        self._fixed, self._moves = fixed, most_moves
        self._nodes, self._loads = model.n_nodes, np.asarray(model.load, dtype=np.float64)
        self.kind: IntArray = heavy.astype(np.int64)
        self.off = off_at(problem, model.node_of)
        self._bundles = [(heavy, light) for heavy in range(MOST_OUT + 1) for light in range(MOST_OUT + 1 - heavy)]
        back = [number for number, bundle in enumerate(self._bundles) if sum(bundle) <= MOST_IN]
        counts = np.array(self._bundles, dtype=np.int64)[:, ::-1]
        self._back = np.array(back)
        self._out_of, self._in_of = np.repeat(counts, len(back), axis=0).T, np.tile(counts[back], (len(counts), 1)).T
        self._known: dict[int, FloatArray | None] = {}

    def drawn(self, distance: float, rng: np.random.Generator) -> tuple[IntArray, IntArray] | None:
        """How many of each kind leave and arrive, light ones first, both (2, n_nodes); None where none were found."""
        step = round(math.log(distance) / math.log(STEP))
        if step not in self._known:
            known = self._worked_out(STEP**step)
            likeliest = self._picked(known, np.zeros_like(known))
            self._known[step] = None if likeliest is None else known
        found = self._known[step]
        picked = None if found is None else self._picked(found, NOISE * rng.gumbel(size=found.shape))
        return None if picked is None else (self._out_of[:, picked], self._in_of[:, picked])

    @functools.cached_property
    def likely(self) -> FloatArray:
        """How likely each group is to travel, (n_groups,); the sum is what the budget affords, or less."""
        weight = np.where(self._movable, self._loads**TRAVELS, 0.0)
        part = weight / max(float(weight.sum()), 1e-300)
        for _ in range(MOST_OUT):
            part = np.minimum(part * (self._moves / max(float(part.sum()), 1e-300)), MOST_LIKELY)
        return part

    @functools.cached_property
    def _movable(self) -> IntArray:
        movable = np.zeros(self._loads.size, dtype=np.int64)
        movable[self._fixed.own] = 1
        return movable

    @functools.cached_property
    def _larger(self) -> IntArray:
        number = {bundle: place for place, bundle in enumerate(self._bundles)}
        more = [[(heavy, light + 1) for heavy, light in self._bundles], [(h + 1, light) for h, light in self._bundles]]
        return np.array([[number.get(one, -1) for one in row] for row in more], dtype=np.int64)

    @functools.cached_property
    def _order(self) -> IntArray:
        """Nodes with too much and too little in turn, so that what leaves and what arrives never differ by much."""
        ascending = np.argsort(self.off, kind="stable")
        order = np.empty_like(ascending)
        half = (self._nodes + 1) // 2
        order[0::2], order[1::2] = ascending[:half], ascending[::-1][: self._nodes - half]
        return order

    def _worked_out(self, distance: float) -> FloatArray:
        """The logarithm of how many pairs of sets each node has, -inf where they are rare, (n_nodes, n_options)."""
        reach = float(np.abs(self.off).max()) + BEYOND * float(self._loads.mean())
        cell = max(distance / CELLS_PER_DISTANCE, reach / MOST_CELLS)
        cells = int(reach / cell) + WINDOW.size
        sets = np.zeros((self._nodes, len(self._bundles), cells))
        count_sets(self._fixed, self.kind, cell, self._larger, sets, np.zeros(len(self._bundles), dtype=np.int64))
        arrive = self._arriving(cell, cells)
        pairs = np.stack([_pairs(sets[node], arrive, round(self.off[node] / cell)) for node in range(self._nodes)])
        pairs = pairs.reshape(self._nodes, -1)
        known: FloatArray = np.where(pairs > RARE, np.log(np.maximum(pairs, RARE)), -np.inf)
        return known

    def _arriving(self, cell: float, cells: int) -> FloatArray:
        """How many sets are expected to arrive with a load in the window around each cell, (n_bundles, n_cells)."""
        size = 1 << (2 * cells).bit_length()
        at = np.round(self._loads / cell).astype(np.int64)
        waves = []
        for kind in (0, 1):
            those = (self.kind == kind) & (at < cells)
            waves.append(np.fft.rfft(np.bincount(at[those], self.likely[those], cells), size))
        sets = np.zeros((self._back.size, cells))
        for row, number in enumerate(self._back.tolist()):
            one, (heavy, light) = np.zeros(cells), self._bundles[number]
            one[0] = 1.0 / (math.factorial(heavy) * math.factorial(light))
            for wave in (*[waves[1]] * heavy, *[waves[0]] * light):
                one = np.maximum(np.fft.irfft(np.fft.rfft(one, size) * wave, size)[:cells], 0.0)
            sets[row] = np.convolve(one, WINDOW, "same")
        return sets

    def _picked(self, known: FloatArray, luck: FloatArray) -> IntArray | None:
        """An option of each node: the cheapest ones at the least price of a journey with which the budget is kept."""
        out, both = self._out_of.sum(axis=0), self._out_of.sum(axis=0) + self._in_of.sum(axis=0)
        base = (-known - luck)[self._order]
        low, high, found = 0.0, DEAREST, None
        for _ in range(PRICES):
            price = (low + high) / 2
            picked = self._balanced(base + price / 2 * both)
            if picked is not None and int(out[picked].sum()) <= self._moves:
                high, found = price, picked
            else:
                low = price
        return found

    def _balanced(self, price: FloatArray) -> IntArray | None:
        """The cheapest option of each node with which both kinds balance; `price` in the order of nodes."""
        looked_at = price <= price.min(axis=1, keepdims=True) + WIDE
        listed = np.argsort(~looked_at, axis=1, kind="stable")
        options = Options(price=price, listed=listed, many=looked_at.sum(axis=1), surplus=self._surplus)
        states = (2 * IMBALANCE + 1) ** 2
        chosen = np.zeros((self._nodes + 1, max(states, self._nodes)), dtype=np.int64)
        if not choose_for_all(options, IMBALANCE, np.zeros((2, states)), chosen):
            return None
        picked = np.empty(self._nodes, dtype=np.int64)
        picked[self._order] = chosen[-1, : self._nodes]
        return picked

    @functools.cached_property
    def _surplus(self) -> IntArray:
        return np.ascontiguousarray(self._out_of - self._in_of)


def _pairs(sets: FloatArray, arrive: FloatArray, off: int) -> FloatArray:
    """Pairs of sets of one node, off by so many cells, (n_bundles, n_bundles that arrive)."""
    cells, near = sets.shape[1], WINDOW.size // 2
    left, came = (sets[:, off:], arrive[:, : cells - off]) if off >= 0 else (sets[:, : cells + off], arrive[:, -off:])
    pairs = left @ came.T
    pairs[:, 0] = sets[:, max(0, off - near) : max(0, off + near + 1)].sum(
        axis=1
    )  # nothing arrives: known, not expected
    return pairs
