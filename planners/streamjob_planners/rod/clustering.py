"""Operators joined by costly streams become one before ROD (sections 4.4.3, 4.4.4, figures 4.15 and 4.19)."""

from __future__ import annotations

import dataclasses
import enum

import numpy as np

from streamjob_planners.model import BoolArray, FloatArray, IntArray
from streamjob_planners.rod.linear import LinearModel
from streamjob_planners.rod.network import Network, ratio_of


class Policy(enum.StrEnum):
    """Which stream goes first."""

    CPU_RATIO = "cpuRatio"  # Largest-Ratio-First, communication before bandwidth
    BYTES_RATIO = "bytesRatio"  # Largest-Ratio-First, bandwidth before communication
    MIN_WEIGHT = "minWeight"  # Min-Weight-First


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Thresholds:
    """A stream is a candidate if its communication ratio is above `cpu` or its bandwidth ratio above `bytes`.

    And if its clustering weight is below `weight` (the paper's eta_c, eta_b and psi). The bandwidth ratio compares
    parts of an average node here, of its bandwidth and of its capacity: the paper's has the unit of its inputs.
    """

    cpu: float
    bytes: float
    weight: float


def clusters(model: LinearModel, network: Network, limits: Thresholds, policy: Policy) -> IntArray:
    """The super-operator of each operator, numbered from 0 without gaps, (n_operators,).

    Figures 4.15 and 4.19 weigh a new candidate with the operator that was just merged; it is the other end that
    counts. Figure 4.19 tests the communication threshold for bandwidth; each ratio has its own here.
    """
    label = np.arange(len(model.coefficients))
    coefficients = model.coefficients.copy()
    wide_use = network.bytes * float(model.capacity.mean() / network.node_limit.mean())
    while True:
        ends = label[network.ends]
        weight = _weights(model, coefficients, ends)
        cpu, size = (_stream_ratio(part, coefficients, ends) for part in (network.cpu, wide_use))
        dear, wide = cpu > limits.cpu, size > limits.bytes
        candidates = (dear | wide) & (weight < limits.weight) & (ends[:, 0] != ends[:, 1])
        if not candidates.any():
            return np.unique(label, return_inverse=True)[1].astype(np.int64)
        chosen = _first(policy, candidates, weight, (cpu, dear), (size, wide))
        kept, gone = ends[chosen].tolist()
        label[label == gone] = kept
        coefficients[kept] += coefficients[gone]


def _first(
    policy: Policy,
    candidates: BoolArray,
    weight: FloatArray,
    cpu: tuple[FloatArray, BoolArray],
    size: tuple[FloatArray, BoolArray],
) -> int:
    """Index of the stream to join: the least weight, or by the three classes of section 4.4.4."""
    which = np.flatnonzero(candidates)
    if policy is Policy.MIN_WEIGHT:
        return int(which[np.argmin(weight[which])])
    (ratio, above), (second, _) = (cpu, size) if policy is Policy.CPU_RATIO else (size, cpu)
    other_above = (size if policy is Policy.CPU_RATIO else cpu)[1]
    rank = np.where(above & other_above, 0, np.where(above, 1, 2))[which]
    value = np.where(rank == 2, second[which], ratio[which])
    return int(which[np.lexsort((-value, rank))[0]])


def _stream_ratio(part: FloatArray, coefficients: FloatArray, ends: IntArray) -> FloatArray:
    """Greatest ratio of a stream's coefficients to those of either end, (n_streams,)."""
    both = [ratio_of(part, coefficients[ends[:, end]]).max(axis=1, initial=0.0) for end in (0, 1)]
    ratio: FloatArray = np.maximum(*both)
    return ratio


def _weights(model: LinearModel, coefficients: FloatArray, ends: IntArray) -> FloatArray:
    """The clustering weight: the heaviest weight of both ends together on an average node, (n_streams,)."""
    together = coefficients[ends[:, 0]] + coefficients[ends[:, 1]]
    weight: FloatArray = model.n_nodes * ratio_of(together, model.total).max(axis=1, initial=0.0)
    return weight
