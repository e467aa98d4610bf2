"""How much more load a placement survives: figures of the feasible set for a person (chapters 3 and 4)."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray, IntArray
from streamjob_planners.rod.distance import ideal_plane_distance, plane_distances
from streamjob_planners.rod.feasible import feasible_ratio
from streamjob_planners.rod.linear import LinearModel


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Resilience:
    """What a placement survives beyond today's rates. Ratios of 1.0 are today's total load.

    Attributes:
        same_mix_ratio: times today's load, all sources growing alike, until the first node is full; None without load.
        any_mix_ratio: times today's load that is survived whatever sources the growth comes from; `same_mix_ratio`,
            below 1.0, where a node is overloaded today; None without load.
        full_node: node that is full first when all sources grow alike, index; None without load.
        weak_node: node that is full first under the worst growth, index; None without load.
        weak_source: source that this growth comes from, index; None without load.
        plane_distance_ratio: least distance of a node's plane from the origin over the ideal one, 0 to 1 (r / r*).
        feasible_ratio: feasible set over the ideal one, 0 to 1.
    """

    same_mix_ratio: float | None
    any_mix_ratio: float | None
    full_node: int | None
    weak_node: int | None
    weak_source: int | None
    plane_distance_ratio: float
    feasible_ratio: float

    @property
    def sentence(self) -> str:
        """For a person."""
        if self.any_mix_ratio is None or self.same_mix_ratio is None:
            return "There is no load to grow."
        return (
            f"Survives {self.any_mix_ratio:.1f} x today's load whatever grows, {self.same_mix_ratio:.1f} x if all of "
            "it grows alike."
        )


def resilience(model: LinearModel, node_of: IntArray, rates: FloatArray) -> Resilience:
    """The figures of a placement.

    Growth is load that comes on top of today's. The worst growth of a given size comes from one source alone, because
    loads are linear: source k fills node i after (1 - W_i x) / w_ik of all capacity (section 4.4.1, on one axis).

    Args:
        model: loads and capacities.
        node_of: the placement, (n_operators,).
        rates: today's rates, >= 0, (n_sources,).
    """
    weights, today = model.node_weights(node_of), model.normalised(rates)
    distance = float(plane_distances(weights).min()) / ideal_plane_distance(weights.shape[1])
    kept = feasible_ratio(weights)
    used, total = weights @ today, float(today.sum())
    if total <= 0:
        return Resilience(
            same_mix_ratio=None,
            any_mix_ratio=None,
            full_node=None,
            weak_node=None,
            weak_source=None,
            plane_distance_ratio=distance,
            feasible_ratio=kept,
        )
    room = _room(weights, used)
    weak = np.unravel_index(int(np.argmin(room)), room.shape)
    return Resilience(
        same_mix_ratio=float(1.0 / used.max()),
        any_mix_ratio=1.0 + float(room.min()) / total if used.max() < 1 else float(1.0 / used.max()),
        full_node=int(np.argmax(used)),
        weak_node=int(weak[0]),
        weak_source=int(weak[1]),
        plane_distance_ratio=distance,
        feasible_ratio=kept,
    )


def _room(weights: FloatArray, used: FloatArray) -> FloatArray:
    """Part of all capacity by which a source may grow alone until a node is full, (n_nodes, n_sources)."""
    left = (1.0 - used)[:, None]
    return np.where(weights > 0, left / np.where(weights > 0, weights, 1.0), np.inf)


def model_of_series(series: FloatArray, capacity: FloatArray) -> tuple[LinearModel, FloatArray]:
    """A model where nobody knows the sources: every window's mix of loads may grow; and today's rates, the mean.

    What is survived then is any growth that is a mix of what was seen.

    Args:
        series: load of each operator in each window, >= 0, (n_windows, n_operators).
        capacity: of each node, in the same unit, (n_nodes,).
    """
    if series.ndim != 2 or series.shape[0] == 0:
        raise ValueError(f"series: shape {series.shape} given, (n_windows, n_operators) with a window is needed")
    model = LinearModel(coefficients=np.ascontiguousarray(series.T), capacity=capacity)
    return model, np.full(series.shape[0], 1.0 / series.shape[0])
