"""What all conditions share: loads today, the bands at a distance, and how many moves any plan can make."""

from __future__ import annotations

import dataclasses
from typing import Protocol

import numpy as np

from streamjob_planners import measures
from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.problem import Problem

SLACK = 1e-7
"""Relative slack with which a condition must fail: a proof must not hang on rounding."""
LIMITED = (0, 2)
"""Columns of prices that differ from group to group: seconds and bytes."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Bands:
    """Bands of the unmarked nodes at a load distance; what these nodes hold above and below today, 0 elsewhere."""

    low: FloatArray
    high: FloatArray
    excess: FloatArray
    lack: FloatArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """A problem with what its conditions need. `by_node`: movable groups, node by node, heaviest first.

    `edges`: where each node's groups begin in `by_node`, and its length, (n_nodes + 1,).
    """

    problem: Problem
    loads: FloatArray
    most_moves: float
    by_node: IntArray
    edges: IntArray

    def bands(self, distance: float) -> Bands:
        """The bands at a distance, a little wider than they are."""
        capacity, mean = self.problem.model.capacity, self.problem.mean
        slack = SLACK * max(1.0, mean)
        high = capacity * (mean + distance + slack)
        low = capacity * (mean - distance - slack)
        staying = self.problem.open_nodes
        return Bands(
            low=low,
            high=high,
            excess=np.where(staying, np.maximum(0.0, self.loads - high), 0.0),
            lack=np.where(staying, np.maximum(0.0, low - self.loads), 0.0),
        )

    def own(self, node: int) -> IntArray:
        """Movable groups of a node, heaviest first."""
        return self.by_node[self.edges[node] : self.edges[node + 1]]


class Condition(Protocol):
    """One necessary condition."""

    def refutes(self, bands: Bands) -> bool:
        """Whether no plan can bring all loads into these bands. May give up and say no."""


def setting_of(problem: Problem) -> Setting:
    """Works out what does not depend on the distance."""
    model = problem.model
    movable = np.flatnonzero(problem.movable)
    order = movable[np.lexsort((-model.load[movable], model.node_of[movable]))]
    return Setting(
        problem=problem,
        loads=measures.node_loads(model, model.node_of),
        most_moves=_most_moves(problem),
        by_node=order,
        edges=np.searchsorted(model.node_of[order], np.arange(model.n_nodes + 1)),
    )


def _most_moves(problem: Problem) -> float:
    """No plan makes more moves than this: the allowance, the movable groups, the cheapest ones that fit the budget."""
    most = min(float(problem.allowances[1]), float(problem.movable.sum()))
    for column in LIMITED:
        if np.isfinite(problem.allowances[column]):
            cheapest = np.sort(problem.prices[problem.movable, column]).cumsum()
            allowed = problem.allowances[column] * (1 + SLACK)
            most = min(most, float(np.searchsorted(cheapest, allowed, side="right")))
    return float(np.floor(most))
