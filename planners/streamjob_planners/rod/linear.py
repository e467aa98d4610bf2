"""The linear load model of section 3.1.2 and its normalised form (section 4.1.3)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LinearModel:
    """Loads that are linear in the rates of sources. A bad model raises ValueError with the field's name.

    Attributes:
        coefficients: load of each operator per unit of each source's rate, >= 0, (n_operators, n_sources).
        capacity: load that each node can carry, > 0, (n_nodes,).
    """

    coefficients: FloatArray
    capacity: FloatArray

    def __post_init__(self) -> None:
        if self.coefficients.ndim != 2:
            raise ValueError(f"coefficients: shape {self.coefficients.shape} given, (n_operators, n_sources) is needed")
        if not bool(np.isfinite(self.coefficients).all() and (self.coefficients >= 0).all()):
            raise ValueError("coefficients: every value must be a finite number of 0 or more")
        if self.capacity.ndim != 1 or self.capacity.size == 0:
            raise ValueError(f"capacity: shape {self.capacity.shape} given, (n_nodes,) with at least one is needed")
        if not bool(np.isfinite(self.capacity).all() and (self.capacity > 0).all()):
            raise ValueError("capacity: every value must be a finite number above 0")

    @property
    def n_nodes(self) -> int:
        """Number of nodes."""
        return self.capacity.size

    @property
    def total(self) -> FloatArray:
        """The paper's l_k: load of all operators per unit of each source's rate, (n_sources,)."""
        total: FloatArray = self.coefficients.sum(axis=0)
        return total

    def operator_weights(self) -> FloatArray:
        """Each operator's part of each source's load, of all nodes' capacity, (n_operators, n_sources).

        A source that loads nobody weighs nothing.
        """
        total = self.total
        weights: FloatArray = self.coefficients / np.where(total > 0, total, 1.0)
        return weights

    def node_weights(self, node_of: IntArray) -> FloatArray:
        """The matrix W of section 4.1.3: part of each source's load over part of the capacity, (n_nodes, n_sources).

        A node can carry normalised rates x (see `normalised`) if its row times x is at most 1; all ones is ideal.
        """
        share = np.zeros((self.n_nodes, self.coefficients.shape[1]))
        np.add.at(share, node_of, self.operator_weights())
        weights: FloatArray = share / self.capacity_share[:, None]
        return weights

    @property
    def capacity_share(self) -> FloatArray:
        """Each node's part of all capacity, (n_nodes,)."""
        share: FloatArray = self.capacity / self.capacity.sum()
        return share

    def normalised(self, rates: FloatArray) -> FloatArray:
        """The part of all capacity that each source's load takes at these rates: x_k = l_k r_k / C_T, (n_sources,)."""
        part: FloatArray = self.total * rates / self.capacity.sum()
        return part
