"""Random query graphs of section 6.1.1: one tree of equally many operators for every input.

The dissertation gives neither shapes nor costs. Chosen: each operator has one to three children, costs are uniform in
0.1 to 1 ms, selectivities in 0.5 to 1.
"""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners.rod.feasible import simplex_points
from streamjob_planners.rod.graph import Operator, linearise, streams
from streamjob_planners.rod.linear import LinearModel

COST_MS = (0.1, 1.0)
SELECTIVITY = (0.5, 1.0)
CHILDREN = (1, 4)
MS_PER_S = 1000.0


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trees:
    """Operators, their linear model in CPU milliseconds per second, and who is connected to whom."""

    operators: tuple[Operator, ...]
    model: LinearModel
    output: np.ndarray  # rate of each operator's output per unit of each input, (n_operators, n_inputs)
    links: sparse.csr_array  # symmetric, (n_operators, n_operators)
    ends: np.ndarray  # the two operators of each stream, (n_streams, 2)


def random_trees(n_operators: int, n_inputs: int, n_nodes: int, seed: int, *, alike: bool = False) -> Trees:
    """`alike`: all costs and selectivities are 1."""
    rng = np.random.default_rng(seed)
    operators: list[Operator] = []
    for source, size in enumerate(np.full(n_inputs, n_operators // n_inputs).tolist()):
        operators += _tree(rng, source, size, len(operators), alike)
    return trees_of(tuple(operators), n_inputs, n_nodes)


def trees_of(operators: tuple[Operator, ...], n_inputs: int, n_nodes: int) -> Trees:
    """The model of a query graph on nodes of one CPU each."""
    found, ends = linearise(operators, n_inputs), np.array(streams(operators)).reshape(-1, 2)
    n = len(operators)
    table = sparse.coo_array((np.ones(len(ends)), (ends[:, 0], ends[:, 1])), shape=(n, n))
    return Trees(
        operators=operators,
        model=LinearModel(coefficients=found.coefficients, capacity=np.full(n_nodes, MS_PER_S)),
        output=found.output,
        links=sparse.csr_array(table + table.T),
        ends=ends,
    )


def _tree(rng: np.random.Generator, source: int, size: int, first: int, alike: bool) -> list[Operator]:
    """Breadth first; the root reads the input."""
    parents: list[int | None] = [None]
    for at in range(size):
        children = int(rng.integers(*CHILDREN))
        parents += [at] * min(children, size - len(parents))
    return [
        Operator(
            cost=1.0 if alike else float(rng.uniform(*COST_MS)),
            selectivity=1.0 if alike else float(rng.uniform(*SELECTIVITY)),
            sources=(source,) if parent is None else (),
            upstream=() if parent is None else (first + parent,),
        )
        for parent in parents
    ]


def random_rates(model: LinearModel, rng: np.random.Generator) -> np.ndarray:
    """Rates uniform in the ideal feasible set, (n_inputs,)."""
    points = simplex_points(model.coefficients.shape[1])
    return points[rng.integers(len(points))] * model.capacity.sum() / model.total
