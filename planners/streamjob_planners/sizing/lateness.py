"""How long batches take, as a distribution, and how often that is longer than they may."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
from scipy.special import ndtr

from streamjob_planners.arrays import FloatArray, IntArray
from streamjob_planners.batch.chance import LEAST_SPREAD, REACH, STEPS
from streamjob_planners.batch.predict import Ends
from streamjob_planners.batch.shape import BatchShape


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Duration:
    """Seconds of a batch: mean and standard deviation, both 0 or more.

    Taken as log-normal: a sum of positive parts, each the largest of several, is never below 0 and has its long tail
    on the right.
    """

    mean_s: float
    spread_s: float

    def late_ratio(self, within_s: float) -> float:
        """Part of the batches that take longer than so many seconds, 0 to 1."""
        if self.mean_s <= 0.0 or within_s <= 0.0:
            return float(self.mean_s > within_s)
        variance = math.log1p((self.spread_s / self.mean_s) ** 2)
        distance = math.log(within_s / self.mean_s) + variance / 2.0
        if variance <= LEAST_SPREAD:
            return float(self.mean_s > within_s * (1.0 + LEAST_SPREAD))
        return float(ndtr(-distance / math.sqrt(variance)))


def duration(shape: BatchShape, owner: IntArray, batch: Ends, common_ratio: float = 0.0) -> Duration:
    """The batch's distribution; `batch` is what `ends` says of the shape under that placement, (n_groups,).

    Levels vary apart from each other, each as the largest of its nodes. `common_ratio`: standard deviation of what
    makes a whole batch longer or shorter (its rows, the hosts, the driver), as a part of its mean.
    """
    mean_s, variance = batch.fixed_s + batch.free_s, 0.0
    for level in range(shape.n_levels):
        level_s, level_variance = largest(batch.node_s[level], _node_spread_s(shape, owner, level))
        mean_s, variance = mean_s + level_s, variance + level_variance
    return Duration(mean_s=mean_s, spread_s=math.sqrt(variance + (common_ratio * mean_s) ** 2))


def largest(mean: FloatArray, spread: FloatArray) -> tuple[float, float]:
    """Mean and variance of the largest of independent normal variables, (n,), n > 0.

    ``E[M - low] = integral of 1 - F`` and ``E[(M - low)^2] = integral of 2 (t - low)(1 - F)``, F the product of all
    distribution functions.
    """
    top = float(mean.max())
    if not spread.any():
        return top, 0.0
    wide = np.maximum(spread, LEAST_SPREAD * max(top, 1.0))
    near = mean + REACH * wide > top - REACH * float(wide.max())
    low, high = float((mean - REACH * wide).max()), float((mean + REACH * wide).max())
    beyond = np.linspace(0.0, high - low, STEPS)
    above = 1.0 - ndtr((low + beyond[:, None] - mean[near]) / wide[near]).prod(axis=1)
    first, second = float(np.trapezoid(above, beyond)), float(np.trapezoid(2.0 * beyond * above, beyond))
    return max(top, low + first), max(0.0, second - first**2)


def _node_spread_s(shape: BatchShape, owner: IntArray, level: int) -> FloatArray:
    """Of each node's end in the level, (n_nodes,): that of its sum over its slots, and not below that of its heaviest
    key group alone, which runs on one slot."""
    here = shape.level == level
    variance = np.bincount(owner[here], shape.spread_s[here] ** 2, shape.slots.size)
    heaviest = np.zeros(shape.slots.size)
    np.maximum.at(heaviest, owner[here], shape.spread_s[here])
    spread_s: FloatArray = np.maximum(np.sqrt(variance) / shape.slots, heaviest / np.sqrt(shape.slots)) / shape.speed
    return spread_s
