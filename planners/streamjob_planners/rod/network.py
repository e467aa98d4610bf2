"""What streams between nodes cost: CPU at both ends, and bandwidth (sections 4.4.3 and 4.4.4)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.linear import LinearModel

SENDER_SHARE = 0.5
"""Part of a stream's communication load that its sender bears; the dissertation gives the sum alone."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Network:
    """Streams between operators, and what they cost where their ends are on two nodes.

    Attributes:
        ends: the two operators of each stream, (n_streams, 2).
        cpu: communication load of each stream per unit of each source's rate, (n_streams, n_sources).
        bytes: bandwidth of each stream per unit of each source's rate, (n_streams, n_sources).
        node_limit: bandwidth of each node, inf where it has no limit, (n_nodes,).
        total_limit: bandwidth of all nodes together, inf where it has no limit.
    """

    ends: IntArray
    cpu: FloatArray
    bytes: FloatArray
    node_limit: FloatArray
    total_limit: float

    def limited(self) -> bool:
        """Whether bandwidth has any limit."""
        return bool(np.isfinite(self.total_limit) or np.isfinite(self.node_limit).any())


def all_planes(model: LinearModel, network: Network, node_of: IntArray) -> FloatArray:
    """Every constraint `row x <= 1` of definition 2 in normalised rates, (n_planes, n_sources).

    The nodes' weights with the communication load on top, then the bandwidth of each node, then that of all.
    """
    crossing = node_of[network.ends[:, 0]] != node_of[network.ends[:, 1]]
    where = node_of[network.ends[crossing]]
    per_rate = model.capacity.sum() / np.where(model.total > 0, model.total, 1.0)
    busy = _at_ends(model.n_nodes, where, network.cpu[crossing], (SENDER_SHARE, 1 - SENDER_SHARE))
    planes = [model.node_weights(node_of) + busy * per_rate / model.capacity[:, None]]
    if network.limited():
        sent = _at_ends(model.n_nodes, where, network.bytes[crossing], (1.0, 1.0))
        planes.append(sent * per_rate / network.node_limit[:, None])
        planes.append(network.bytes[crossing].sum(axis=0, keepdims=True) * per_rate / network.total_limit)
    return np.concatenate(planes)


def _at_ends(n_nodes: int, where: IntArray, values: FloatArray, parts: tuple[float, float]) -> FloatArray:
    """Values of streams added up over the nodes at their two ends, (n_nodes, n_sources)."""
    found = np.zeros((n_nodes, values.shape[1]))
    for end, part in enumerate(parts):
        np.add.at(found, where[:, end], part * values)
    return found


def abundant(model: LinearModel, network: Network) -> bool:
    """Theorem 3: whether bandwidth never decides, wherever operators are.

    The second ratio is printed upside down: bandwidth per load must stay below the bandwidth there is per capacity.
    """
    touching = np.zeros_like(model.coefficients)
    for end in (0, 1):
        np.add.at(touching, network.ends[:, end], network.bytes)
    each = ratio_of(touching, model.coefficients).max(initial=0.0)
    everything = ratio_of(network.bytes.sum(axis=0), model.total).max(initial=0.0)
    least = float((network.node_limit / model.capacity).min())
    return bool(each < least and everything < network.total_limit / model.capacity.sum())


def ratio_of(above: FloatArray, below: FloatArray) -> FloatArray:
    """Quotients; inf where something stands above nothing, 0 for nothing above nothing."""
    whole = np.where(below > 0, above / np.where(below > 0, below, 1.0), np.where(above > 0, np.inf, 0.0))
    ratio: FloatArray = whole
    return ratio
