"""A lower bound on the load distance that can be proved: no plan within the budget is below it.

If a necessary condition fails at a distance d, the optimum is above d; the bound is the largest d refuted by bisection.
The conditions only relax the problem (forbidden places and further resources are left out), so the bound holds for it:

- a group that is heavier alone (``measures.skew_floor``);
- per price: covering every node's excess from its own groups, cut where need be, and moving as much load as all nodes
  lack together, each keep the budget (fractional knapsacks);
- per number of moves: every moved group leaves one node and arrives at one, so the groups that must leave, those that
  must arrive, and any weighting of the two, stay within the moves allowed; a node's pair of counts is possible when the
  interval of loads it can reach meets its band (granularity);
- nodes that lack load must get it from others: with the moves allowed, every giver sends its own heaviest groups and
  at most what leaves it above its band's lower edge (a marked node: all it has).
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel, PlanParams
from streamjob_planners.problem import Problem, compile_problem

BISECTIONS = 24
BOX = 12
"""Counts of leaving and arriving groups that are looked at one by one; above it only the box's edge counts."""
WEIGHTS = (0.25, 0.5, 0.75)
SLACK = 1e-7
"""Relative slack with which a condition must fail: a proof must not hang on rounding."""


def lower_bound(model: LoadModel, params: PlanParams) -> float:
    """Percent points that no plan within `params.budget` goes below, 0 or more."""
    return bound_of(compile_problem(model, params))


def bound_of(problem: Problem, stop: Callable[[], bool] = lambda: False) -> float:
    """`lower_bound` of a compiled problem; once `stop` says so, the best bound so far."""
    model = problem.model
    today = measures.load_distance(model, model.node_of)
    floor = measures.skew_floor(model)
    low, high = (0.0 if floor is None else floor.load_distance), today
    tests = _Tests(problem)
    if high <= low:
        return max(0.0, min(low, high) * (1 - SLACK))
    for _ in range(BISECTIONS):
        if stop():
            break
        middle = (low + high) / 2
        low, high = (middle, high) if tests.refuted(middle) else (low, middle)
    return low * (1 - SLACK)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Prices:
    """Groups of one node, or of all, by load per price: cumulated load and price, to cover a load cheaply."""

    load: FloatArray
    price: FloatArray

    def cover(self, needed: float) -> float:
        """Least price to move at least `needed`, groups cut where need be; inf if that is not there."""
        if needed <= 0:
            return 0.0
        if not self.load.size or needed > self.load[-1]:
            return np.inf
        return float(np.interp(needed, np.append(0.0, self.load), np.append(0.0, self.price)))


class _Tests:
    """What does not depend on the distance, worked out once."""

    def __init__(self, problem: Problem) -> None:
        model = problem.model
        self._problem = problem
        self._loads = measures.node_loads(model, model.node_of)
        self._moves = _most_moves(problem)
        self._box = int(min(BOX, self._moves))
        self._order = np.lexsort((-model.load, model.node_of))
        self._order = self._order[problem.movable[self._order]]
        heavy_first = np.sort(model.load[problem.movable])[::-1]
        self._all_sums = heavy_first.cumsum()
        self._top, self._bottom = _ends(heavy_first, self._box)
        edges = np.searchsorted(model.node_of[self._order], np.arange(1, model.n_nodes))
        own = np.split(model.load[self._order], edges)
        self._own_sums = _padded_sums(own)
        ends = [_ends(loads, self._box) for loads in own]
        self._own_top = np.array([top for top, _ in ends])
        self._own_bottom = np.array([bottom for _, bottom in ends])
        self._limited = [column for column in (0, 2) if np.isfinite(problem.allowances[column])]
        everywhere = problem.movable
        self._all_prices = {column: self._prices(everywhere, column) for column in self._limited}
        self._marked_prices = {
            column: self._prices(everywhere & model.marked[model.node_of], column) for column in self._limited
        }
        self._node_prices: dict[int, list[_Prices]] = {}

    def refuted(self, distance: float) -> bool:
        """Whether no plan can have this load distance."""
        capacity, mean = self._problem.model.capacity, self._problem.mean
        slack = SLACK * max(1.0, mean)
        high = capacity * (mean + distance + slack)
        low = capacity * (mean - distance - slack)
        staying = self._problem.open_nodes
        excess = np.where(staying, np.maximum(0.0, self._loads - high), 0.0)
        lack = np.where(staying, np.maximum(0.0, low - self._loads), 0.0)
        return (
            self._too_little_shipped(low)
            or self._too_little_given(low, lack)
            or self._too_many_moves(excess, lack)
            or self._too_grainy(low, high)
            or self._too_dear(excess, lack)
        )

    def _prices(self, groups: BoolArray | IntArray, column: int) -> _Prices:
        load, price = self._problem.model.load[groups], self._problem.prices[groups, column]
        order = np.argsort(price / np.maximum(load, 1e-300), kind="stable")
        return _Prices(load=load[order].cumsum(), price=price[order].cumsum())

    def _too_little_shipped(self, low: FloatArray) -> bool:
        """Marked nodes cannot send what the others lack together."""
        model = self._problem.model
        staying = self._problem.open_nodes
        lack = float(low[staying].sum() - self._loads[staying].sum())
        if lack <= 0:
            return False
        there = np.sort(model.load[self._problem.movable & model.marked[model.node_of]])[::-1]
        most = there if np.isinf(self._moves) else there[: int(self._moves)]
        if lack > float(most.sum()) * (1 + SLACK):
            return True
        return any(
            self._marked_prices[column].cover(lack) > self._problem.allowances[column] * (1 + SLACK)
            for column in self._limited
        )

    def _too_little_given(self, low: FloatArray, lack: FloatArray) -> bool:
        """Even the heaviest groups of all givers do not make up for what is lacking."""
        needed = float(lack.sum())
        if needed <= 0 or np.isinf(self._moves):
            return False
        can_give = np.where(self._problem.open_nodes, np.maximum(0.0, self._loads - low), self._loads)
        given = np.minimum(self._own_sums, can_give[:, None])
        steps = np.diff(given, axis=1, prepend=0.0).ravel()
        count = int(min(self._moves, steps.size))
        most = np.partition(steps, steps.size - count)[steps.size - count :] if count else steps[:0]
        return bool(most.sum() * (1 + SLACK) < needed)

    def _too_many_moves(self, excess: FloatArray, lack: FloatArray) -> bool:
        """The fewest groups that cover all excesses, or fill all that lack, are more than may move."""
        nodes = np.flatnonzero(excess)
        covered = self._own_sums[nodes] >= excess[nodes, None] * (1 - SLACK)
        if not covered[:, -1].all() or float(covered.argmax(axis=1).sum() + nodes.size) > self._moves:
            return True
        needed = lack[lack > 0] * (1 - SLACK)
        counts = np.searchsorted(self._all_sums, needed) + 1
        return bool((counts > self._all_sums.size).any() or float(counts.sum()) > self._moves)

    def _too_grainy(self, low: FloatArray, high: FloatArray) -> bool:
        """The counts (leaving, arriving) that every node needs to meet its band are more than may move."""
        if np.isinf(self._moves):
            return False
        at = self._loads[:, None, None]
        least = at - self._own_top[:, :, None] + self._bottom[None, None, :]
        most = at - self._own_bottom[:, :, None] + self._top[None, None, :]
        meets = (least <= high[:, None, None]) & (most >= low[:, None, None])
        meets[self._problem.model.marked, 0, 0] = True
        counts = np.arange(self._box + 1)
        for weight in WEIGHTS:
            price = weight * counts[:, None] + (1 - weight) * counts[None, :]
            outside = min(weight, 1 - weight) * (self._box + 1)
            needed = np.where(meets, price[None], outside).min(axis=(1, 2))
            if float(np.minimum(needed, outside).sum()) > self._moves + SLACK:
                return True
        return False

    def _too_dear(self, excess: FloatArray, lack: FloatArray) -> bool:
        """Covering the excesses, or moving what all lack together, costs more than the budget."""
        for column in self._limited:
            allowed = self._problem.allowances[column] * (1 + SLACK)
            if self._all_prices[column].cover(float(lack.sum())) > allowed:
                return True
            bill = sum(self._of_node(column, int(node)).cover(float(excess[node])) for node in np.flatnonzero(excess))
            if bill > allowed:
                return True
        return False

    def _of_node(self, column: int, node: int) -> _Prices:
        if column not in self._node_prices:
            home = self._problem.model.node_of
            order = np.argsort(home, kind="stable")
            members = np.split(order, np.searchsorted(home[order], np.arange(1, self._loads.size)))
            self._node_prices[column] = [self._prices(one[self._problem.movable[one]], column) for one in members]
        return self._node_prices[column][node]


def _most_moves(problem: Problem) -> float:
    """No plan makes more moves than this: the allowance, the movable groups, the cheapest ones that fit the budget."""
    most = min(float(problem.allowances[1]), float(problem.movable.sum()))
    for column in (0, 2):
        cheapest = np.sort(problem.prices[problem.movable, column]).cumsum()
        most = min(most, float(np.searchsorted(cheapest, problem.allowances[column] * (1 + SLACK), side="right")))
    return float(np.floor(most))


def _padded_sums(own: list[FloatArray]) -> FloatArray:
    """Cumulated loads per node, heaviest first, the last sum repeated to one width, (n_nodes, width)."""
    width = max(1, *(loads.size for loads in own))
    sums = np.zeros((len(own), width))
    for row, loads in zip(sums, own, strict=True):
        row[: loads.size] = loads.cumsum()
        row[loads.size :] = float(loads.sum())
    return sums


def _ends(heavy_first: FloatArray, box: int) -> tuple[FloatArray, FloatArray]:
    """Most and least load of 0, 1, ... box groups; -inf and inf (nothing is reachable) where there are not so many."""
    missing = max(0, box - heavy_first.size)
    top = np.concatenate([[0.0], heavy_first[:box].cumsum(), np.full(missing, -np.inf)])
    bottom = np.concatenate([[0.0], heavy_first[::-1][:box].cumsum(), np.full(missing, np.inf)])
    return top, bottom
