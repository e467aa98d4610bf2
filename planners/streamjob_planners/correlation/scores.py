"""Which operator goes to the receiving node next: by correlation, and the baselines of section 6.2.2.

A score is a function of the mapping, the candidates, the nodes under consideration and the receiver among them; the
candidate with the greatest score is taken, the heavier one of equals. Candidates may be on a node or nowhere.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from streamjob_planners.correlation.mapping import NOWHERE, Mapping, unit_rows
from streamjob_planners.model import FloatArray, IntArray

Score = Callable[[Mapping, IntArray, IntArray, int], FloatArray]

DIGITS = 12
"""Scores that differ by rounding only are equal, whatever the order in which loads were added up."""


def correlation(mapping: Mapping, operators: IntArray, nodes: IntArray) -> FloatArray:
    """The dissertation's rho(o, N): with the node's load, without the operator's own share; (n_operators, n_nodes)."""
    table: FloatArray = mapping.unit[operators] @ unit_rows(mapping.total[nodes]).T
    where = mapping.node_of[operators]
    for column, node in enumerate(nodes.tolist()):
        mine = np.flatnonzero(where == node)
        if mine.size:
            others = unit_rows(mapping.total[node] - mapping.series[operators[mine]])
            table[mine, column] = (mapping.unit[operators[mine]] * others).sum(axis=1)
    return table


def by_correlation(mapping: Mapping, operators: IntArray, nodes: IntArray, receiver: int) -> FloatArray:
    """Sections 5.2.1, 5.2.2: the mean of rho over the nodes less rho with the receiver, (n_operators,).

    Of operators that are nowhere it is one product: the mean of products is the product with the mean. The number of
    nodes then does not count, where section 5.4.2 has it as a factor.
    """
    at = int(np.flatnonzero(nodes == receiver)[0])
    if (mapping.node_of[operators] == NOWHERE).all():
        units = unit_rows(mapping.total[nodes])
        score: FloatArray = mapping.unit[operators] @ (units.mean(axis=0) - units[at])
        return score
    table = correlation(mapping, operators, nodes)
    score = table.mean(axis=1) - table[:, at]
    return score


def largest_first(mapping: Mapping, operators: IntArray, nodes: IntArray, receiver: int) -> FloatArray:
    """LLF: the largest mean load, (n_operators,)."""
    return mapping.mean[operators]


def at_random(rng: np.random.Generator) -> Score:
    """RAND: any one."""

    def score(mapping: Mapping, operators: IntArray, nodes: IntArray, receiver: int) -> FloatArray:
        return rng.random(operators.size)

    return score


def best(mapping: Mapping, operators: IntArray, scores: FloatArray) -> int:
    """Index, among the operators, of the one with the greatest score; the heaviest and then the first of equals."""
    order = np.lexsort((-mapping.mean[operators], -np.round(scores, DIGITS)))
    return int(order[0])
