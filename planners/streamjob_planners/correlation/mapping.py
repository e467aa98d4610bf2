"""A mapping plan under change: operators with their load time series on nodes (section 5.2).

An operator here is the unit that moves: a key group in this product. Nothing moves but in the plan.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.problem import Problem

CONSTANT = 1e-9
"""A series that varies by less than this part of its greatest value counts as constant; rounding alone gives less."""
NOWHERE = -1
"""Node of an operator that was taken off its node and has no new one yet."""


@dataclasses.dataclass(slots=True, kw_only=True)
class Mapping:
    """Which operator is where, and what each node's load series is then.

    Attributes:
        series: load of each operator in each window, (n_operators, n_windows), any unit; capacities are in the same.
        node_of: node of each operator, NOWHERE while it is being placed, (n_operators,).
        capacity: of each node, > 0, (n_nodes,); nodes are compared by load over capacity (section 5.3).
        movable: operators that may move, (n_operators,).
        open_nodes: nodes that may receive, (n_nodes,).
        home: today's node, (n_operators,).
        uses, limits: of further resources, (n_resources, n_operators) and (n_resources, n_nodes).
    """

    series: FloatArray
    node_of: IntArray
    capacity: FloatArray
    movable: BoolArray
    open_nodes: BoolArray
    home: IntArray
    uses: FloatArray
    limits: FloatArray
    mean: FloatArray = dataclasses.field(init=False)
    unit: FloatArray = dataclasses.field(init=False)
    total: FloatArray = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        self.mean = self.series.mean(axis=1)
        self.unit = unit_rows(self.series)
        self.total = np.zeros((self.capacity.size, self.series.shape[1]))
        np.add.at(self.total, self.node_of, self.series)

    def use(self) -> FloatArray:
        """Mean load over capacity, (n_nodes,)."""
        relative: FloatArray = self.total.mean(axis=1) / self.capacity
        return relative

    def on(self, node: int) -> IntArray:
        """Movable operators of a node."""
        return np.flatnonzero((self.node_of == node) & self.movable)

    def put(self, operator: int, node: int) -> None:
        """Move one operator in the plan."""
        source = int(self.node_of[operator])
        self.node_of[operator] = node
        self._add_up([place for place in (source, node) if place != NOWHERE])

    def lift(self, operators: IntArray) -> None:
        """Take operators off their nodes, which are then "empty": they hold what cannot move."""
        sources = np.unique(self.node_of[operators]).tolist()
        self.node_of[operators] = NOWHERE
        self._add_up(sources)

    def restore(self, node_of: IntArray) -> None:
        """Back to another placement, (n_operators,)."""
        changed = np.flatnonzero(self.node_of != node_of)
        nodes = np.unique(np.append(self.node_of[changed], node_of[changed]))
        self.node_of[:] = node_of
        self._add_up([node for node in nodes.tolist() if node != NOWHERE])

    def takes(self, operators: IntArray, node: int) -> BoolArray:
        """True where the node may take the operator now, (n,)."""
        free = np.full(operators.size, bool(self.open_nodes[node]))
        if len(self.uses):
            held = self.uses[:, self.node_of == node].sum(axis=1)
            free &= (self.uses[:, operators] + held[:, None] <= self.limits[:, node, None]).all(axis=0)
        return free

    def _add_up(self, nodes: list[int]) -> None:
        """From scratch: adding and taking away would leave traces that correlate with something."""
        for node in nodes:
            self.total[node] = self.series[self.node_of == node].sum(axis=0)


def mapping_of(series: FloatArray, node_of: IntArray, capacity: FloatArray) -> Mapping:
    """A mapping without any limits: everything may go anywhere, as in the dissertation."""
    n_operators, n_nodes = node_of.size, capacity.size
    return Mapping(
        series=series,
        node_of=node_of.copy(),
        capacity=capacity,
        movable=np.ones(n_operators, dtype=np.bool_),
        open_nodes=np.ones(n_nodes, dtype=np.bool_),
        home=node_of,
        uses=np.zeros((0, n_operators)),
        limits=np.zeros((0, n_nodes)),
    )


def mapping_within(problem: Problem, series: FloatArray) -> Mapping:
    """The mapping of a model, with its pins, marks and resources; `series`: (n_groups, n_windows)."""
    model = problem.model
    return Mapping(
        series=series,
        node_of=model.node_of.astype(np.int64),
        capacity=model.capacity,
        movable=problem.movable.copy(),
        open_nodes=problem.open_nodes,
        home=model.node_of,
        uses=problem.uses,
        limits=problem.limits,
    )


def unit_rows(series: FloatArray) -> FloatArray:
    """Each row without its mean and of length 1, so that products of rows are correlations; 0 for constant rows."""
    apart = series - series.mean(axis=-1, keepdims=True)
    length = np.sqrt((apart**2).sum(axis=-1, keepdims=True))
    varies = length > CONSTANT * np.abs(series).max(axis=-1, keepdims=True, initial=0.0)
    unit: FloatArray = np.where(varies, apart / np.where(varies, length, 1.0), 0.0)
    return unit


def node_correlations(mapping: Mapping) -> FloatArray:
    """Correlation of every two nodes' load series, -1 to 1, (n_nodes, n_nodes)."""
    unit = unit_rows(mapping.total)
    matrix: FloatArray = unit @ unit.T
    return matrix


def pair_correlation(mapping: Mapping, first: int, second: int) -> float:
    """Correlation of two nodes' load series, -1 to 1; 0 where one of them is constant."""
    unit = unit_rows(mapping.total[[first, second]])
    return float(unit[0] @ unit[1])
