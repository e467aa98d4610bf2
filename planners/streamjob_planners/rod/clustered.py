"""ROD on clusters: a sweep over thresholds, of which the plan with the farthest planes is kept (section 4.4)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.clustering import Policy, Thresholds, clusters
from streamjob_planners.rod.distance import plane_distances
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.network import Network, all_planes
from streamjob_planners.rod.placing import rod

RATIOS = (0.1, 0.2, 0.4, 0.7, 1.0)
"""Thresholds of clustering ratios that are tried; the dissertation names none."""
TIE = 1e-6
"""Far less than one point of a set."""
POINTS_LOG2 = 12
"""Points by which `set_size` compares plans."""
WEIGHTS = (1.0, 1.5, 2.0, 3.0, 4.0, 6.0, 8.0, float("inf"))
"""Upper bounds of clustering weights that are tried: 1 is an average node's share of one source, n all of it."""


Judge = Callable[[FloatArray], float]
"""How good a plan's planes are, (n_planes, n_sources); more is better."""


def nearest_plane(lowest: FloatArray | None = None) -> Judge:
    """The published one: the least distance of all planes."""
    return lambda planes: float(plane_distances(planes, lowest).min())


def set_size(lowest: FloatArray | None = None) -> Judge:
    """The feasible set itself, by quasi Monte Carlo: dearer, and not misled where one plane is near but cuts little.

    Sets too small for any point to be in them are compared by their nearest plane.
    """
    near = nearest_plane(lowest)
    return lambda planes: feasible_ratio(planes, lowest, POINTS_LOG2) + TIE * near(planes)


def clustered_rod(
    model: LinearModel, network: Network, lowest: FloatArray | None = None, judge: Judge | None = None
) -> IntArray:
    """The node of each operator, (n_operators,): ROD without clusters, or with those that the judge likes better.

    Planes are those of CPU with communication, of each node's bandwidth and of all bandwidth. `judge`: `nearest_plane`
    where None.
    """
    worth = nearest_plane(lowest) if judge is None else judge
    best, most = np.zeros(0, dtype=np.int64), -np.inf
    for label in _labels(model, network):
        node_of = rod(merged(model, label), lowest)[label]
        found = worth(all_planes(model, network, node_of))
        if found > most:
            best, most = node_of, found
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
