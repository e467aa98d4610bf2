"""What a node may take: marks, forbidden places and the limits of further resources, kept while items move."""

from __future__ import annotations

import dataclasses

import numpy as np
from scipy import sparse

from streamjob_planners.arrays import sums
from streamjob_planners.model import BoolArray, FloatArray, IntArray, LoadModel
from streamjob_planners.problem import ROUNDING


@dataclasses.dataclass(slots=True, kw_only=True)
class Hosting:
    """Items are key groups, or units of them as `units.contracted` makes.

    Attributes:
        marked: nodes that take nothing, (n_nodes,).
        forbidden: True where an item may not be, (n_items, n_nodes), or None.
        use: of each further resource by each item, (n_resources, n_items).
        node_use: of each further resource on each node, (n_resources, n_nodes); changes with every move.
        limit: what a node may hold after receiving: its limit, or today's use if that is more, (n_resources, n_nodes).
    """

    marked: BoolArray
    forbidden: sparse.csr_array | None
    use: FloatArray
    node_use: FloatArray
    limit: FloatArray

    def takes(self, items: IntArray, nodes: IntArray) -> BoolArray:
        """True where the node may take the item now; both (n,)."""
        open_nodes = ~self.marked[nodes]
        if self.forbidden is not None and items.size:
            open_nodes &= ~np.asarray(self.forbidden[items, nodes], dtype=np.bool_).ravel()
        fits = self.node_use[:, nodes] + self.use[:, items] <= self.limit[:, nodes]
        return np.asarray(open_nodes & fits.all(axis=0), dtype=np.bool_)

    def move(self, item: int, source: int, target: int) -> None:
        """Counts the item's use at its new node."""
        self.node_use[:, source] -= self.use[:, item]
        self.node_use[:, target] += self.use[:, item]


def hosting_of(model: LoadModel) -> Hosting:
    """The state before any move."""
    count = len(model.resources)
    use = np.array([one.use for one in model.resources], dtype=np.float64).reshape(count, model.n_groups)
    today = [sums(model.node_of, one.use, model.n_nodes) for one in model.resources]
    node_use = np.array(today, dtype=np.float64).reshape(count, model.n_nodes)
    limit = np.array([one.limit for one in model.resources], dtype=np.float64).reshape(count, model.n_nodes)
    return Hosting(
        marked=model.marked,
        forbidden=None if model.forbidden is None else sparse.csr_array(model.forbidden),
        use=use,
        node_use=node_use,
        limit=np.maximum(limit, node_use) * (1.0 + ROUNDING),
    )


def permitted(model: LoadModel, node_of: IntArray) -> IntArray:
    """The placement with key groups left where they are that may not go: pinned ones, marked and forbidden nodes."""
    stays = model.pinned | model.marked[node_of]
    if model.forbidden is not None and model.n_groups:
        table = sparse.csr_array(model.forbidden)
        stays = stays | np.asarray(table[np.arange(node_of.size), node_of], dtype=np.bool_).ravel()
    return np.where(stays, model.node_of, node_of)
