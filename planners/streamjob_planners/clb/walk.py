"""From today's placement by single moves and swaps, each the one that lowers the imbalance over windows the most.

The imbalance (`spread`, the paper's h-bar) of loads L in a window is, but for a constant, the sum over nodes of
``L^2 / capacity``. A group of load x that goes from a to b changes it by
``x^2 (1/c_a + 1/c_b) - 2 x L_a / c_a + 2 x L_b / c_b``; two that swap do so by the difference of theirs.
"""

from __future__ import annotations

import numpy as np

from streamjob_planners.ledger.nodes import Ledger
from streamjob_planners.model import BoolArray, FloatArray
from streamjob_planners.problem import Problem
from streamjob_planners.spread import windows

TRIES = 50
"""Best steps looked at for one that is allowed."""


class Walk:
    """A placement (`books`) and the products of all load series that steps are judged by."""

    def __init__(self, problem: Problem, series: FloatArray) -> None:
        """`series`: load of each group in each window, (n_windows, n_groups)."""
        self.books = Ledger(problem)
        self._series = series
        self._gram = series.T @ series
        self._refresh()

    def imbalance(self) -> float:
        """Sum over windows and nodes of the capacity-weighted squared distance from the window's mean."""
        capacity = self.books.problem.model.capacity
        apart = self._loads / capacity - (self._series.sum(axis=1) / capacity.sum())[:, None]
        return float((apart**2 * capacity).sum())

    def move(self, allowed: BoolArray, least: float) -> bool:
        """The best single move among `allowed` (n_groups, n_nodes), if it gains more than `least`."""
        books = self.books
        change = np.where(allowed, self._move_change(), np.inf)
        change[np.arange(books.node_of.size), books.node_of] = np.inf
        for at in _smallest(change, -least):
            group, node = divmod(at, change.shape[1])
            if books.fits(group, node) and books.move(group, node):
                self._refresh()
                return True
        return False

    def swap(self, least: float) -> bool:
        """The best exchange of two groups, if it gains more than `least`."""
        for at in _smallest(np.triu(self._swap_change(), 1), -least):
            if self._exchange(*divmod(at, self._gram.shape[0])):
                self._refresh()
                return True
        return False

    def _exchange(self, one: int, other: int) -> bool:
        """Both moves or none; limits of further resources must hold after the first one too."""
        books = self.books
        here, there = int(books.node_of[one]), int(books.node_of[other])
        if not (books.fits(one, there) and books.move(one, there)):
            return False
        if books.fits(other, here) and books.move(other, here):
            return True
        books.move(one, here)
        return False

    def _refresh(self) -> None:
        model = self.books.problem.model
        self._loads = windows(self._series, self.books.node_of, model.n_nodes)
        self._with = self._series.T @ (self._loads / model.capacity)

    def _move_change(self) -> FloatArray:
        """(n_groups, n_nodes)."""
        weight, node_of = 1.0 / self.books.problem.model.capacity, self.books.node_of
        own = np.take_along_axis(self._with, node_of[:, None], axis=1)
        square = np.diag(self._gram)[:, None]
        change: FloatArray = square * (weight + weight[node_of][:, None]) - 2 * own + 2 * self._with
        return change

    def _swap_change(self) -> FloatArray:
        """(n_groups, n_groups); inf for two that share a node or of which one may not move."""
        node_of, movable = self.books.node_of, self.books.problem.movable
        square, weight = np.diag(self._gram), 1.0 / self.books.problem.model.capacity
        between = self._with[:, node_of]
        own = np.diag(between)
        apart = square[:, None] + square - 2 * self._gram
        change = apart * (weight[node_of] + weight[node_of][:, None])
        change += 2 * (between + between.T - own[:, None] - own)
        barred = (node_of == node_of[:, None]) | ~(movable & movable[:, None])
        return np.where(barred, np.inf, change)


def _smallest(change: FloatArray, below: float) -> list[int]:
    """Places of the smallest changes below a limit, smallest first, at most TRIES."""
    flat = change.ravel()
    few = np.argpartition(flat, TRIES)[:TRIES] if flat.size > TRIES else np.arange(flat.size)
    few = few[flat[few] < below]
    return [int(at) for at in few[np.argsort(flat[few], kind="stable")]]
