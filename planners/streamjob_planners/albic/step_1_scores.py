"""Step 1 of ALBIC: which pairs of key groups talk enough to be worth collocating (algorithm 2, lines 1 to 14)."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners import columns, measures
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Pairs:
    """Directed pairs of key groups whose traffic passes the threshold.

    Attributes:
        first: sending key group, (n_pairs,).
        second: receiving key group, (n_pairs,).
        value: bytes/s from first to second, > 0, (n_pairs,).
    """

    first: IntArray
    second: IntArray
    value: FloatArray

    def __len__(self) -> int:
        return int(self.value.size)

    def where(self, chosen: BoolArray) -> Pairs:
        """The pairs at which `chosen`, (n_pairs,), is True."""
        return Pairs(first=self.first[chosen], second=self.second[chosen], value=self.value[chosen])

    def collocated(self, node_of: IntArray) -> BoolArray:
        """True where both ends are on one node, (n_pairs,): the paper's colGrps; the others are toBeColGrps."""
        return np.asarray(node_of[self.first] == node_of[self.second])


def beneficial_pairs(model: LoadModel, score_factor: float) -> Pairs:
    """Pairs with out(gi, gj) > avg(gi) * sF, heaviest first; none when nobody measured the traffic.

    avg(gi) is the output of gi over the number of key groups of all operators downstream of gi's operator. Where the
    model does not say these, an operator counts as downstream when any key group of the one sends to any key group of
    the other, and the output is what `traffic` holds.
    """
    if model.traffic is None or model.traffic.nnz == 0:
        nothing = np.empty(0, dtype=np.int64)
        return Pairs(first=nothing, second=nothing, value=np.empty(0))
    edges = sparse.coo_array(model.traffic)
    first, second = edges.row.astype(np.int64), edges.col.astype(np.int64)
    value = edges.data.astype(np.float64)
    average = _mean_output(model, first, second)
    chosen = (value > average[first] * score_factor) & (first != second)
    pairs = Pairs(first=first, second=second, value=value).where(chosen)
    order = np.lexsort((pairs.second, pairs.first, -pairs.value))
    return Pairs(first=pairs.first[order], second=pairs.second[order], value=pairs.value[order])


def joining(model: LoadModel, node_of: IntArray, pairs: Pairs) -> BoolArray:
    """Key groups that move to `node_of` and find a partner there from whom they were apart, (n_groups,)."""
    won = pairs.where(pairs.collocated(node_of) & ~pairs.collocated(model.node_of))
    joins = np.zeros(model.n_groups, dtype=np.bool_)
    joins[won.first] = True
    joins[won.second] = True
    return np.asarray(joins & (node_of != model.node_of), dtype=np.bool_)


def _mean_output(model: LoadModel, first: IntArray, second: IntArray) -> FloatArray:
    """The paper's avg(gi) of every key group in bytes/s, (n_groups,)."""
    partners = _partners(model, first, second) if model.traffic_partners is None else model.traffic_partners
    return np.asarray(measures.sent_bps(model) / np.maximum(partners, 1), dtype=np.float64)


def _partners(model: LoadModel, first: IntArray, second: IntArray) -> FloatArray:
    """Key groups of all operators downstream of each key group's own, as far as pairs show them, (n_groups,)."""
    operators, operator_of = np.unique(columns.operators(model.group_ids), return_inverse=True)
    sizes = np.bincount(operator_of, minlength=operators.size)
    sends = np.unique(np.stack((operator_of[first], operator_of[second])), axis=1)
    downstream = np.bincount(sends[0], weights=sizes[sends[1]], minlength=operators.size)
    return np.asarray(downstream[operator_of], dtype=np.float64)
