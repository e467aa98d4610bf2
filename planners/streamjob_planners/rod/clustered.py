"""ROD on clusters: a sweep over thresholds, of which the plan with the farthest planes is kept (section 4.4)."""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.clustering import Policy, Thresholds, clusters
from streamjob_planners.rod.distance import plane_distances
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.network import Network, all_planes
from streamjob_planners.rod.placing import rod

RATIOS = (0.1, 0.2, 0.4, 0.7, 1.0)
"""Thresholds of clustering ratios that are tried; the dissertation names none."""
WEIGHTS = (0.5, 1.0, 1.5, 2.0, 3.0, 4.0)
"""Upper bounds of clustering weights that are tried: 1 is an average node's share of one source."""


def clustered_rod(model: LinearModel, network: Network, lowest: FloatArray | None = None) -> IntArray:
    """The node of each operator, (n_operators,): ROD without clusters, or with those whose planes stay farther.

    Planes are those of CPU with communication, of each node's bandwidth and of all bandwidth.
    """
    best, farthest = np.zeros(0, dtype=np.int64), -np.inf
    for label in _labels(model, network):
        node_of = rod(merged(model, label), lowest)[label]
        distance = float(plane_distances(all_planes(model, network, node_of), lowest).min())
        if distance > farthest:
            best, farthest = node_of, distance
    return best


def merged(model: LinearModel, label: IntArray) -> LinearModel:
    """The model of super-operators; `label`: that of each operator, from 0 without gaps, (n_operators,)."""
    coefficients = np.zeros((int(label.max(initial=-1)) + 1, model.coefficients.shape[1]))
    np.add.at(coefficients, label, model.coefficients)
    return LinearModel(coefficients=coefficients, capacity=model.capacity)


def _labels(model: LinearModel, network: Network) -> Iterator[IntArray]:
    """No clusters first, then those of every combination, each of them once."""
    seen = set()
    own = np.arange(len(model.coefficients))
    sweep = (
        clusters(model, network, Thresholds(cpu=ratio, bytes=ratio, weight=weight), policy)
        for policy, ratio, weight in itertools.product(Policy, RATIOS, WEIGHTS)
    )
    for label in itertools.chain([own], sweep):
        if label.tobytes() not in seen:
            seen.add(label.tobytes())
            yield label
