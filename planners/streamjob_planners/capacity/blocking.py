"""Blocking-rate functions (load balancing for ordered regions, section 5.1): from a few samples to a whole function.

The function of a connection says which part of the time the splitter would be blocked on it if it sent that share of
the tuples there. Shares, `weights`, are whole thousandths: 0 to 1000.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping

import numpy as np
from scipy.optimize import isotonic_regression

from streamjob_planners.arrays import FloatArray, IntArray

STEPS = 1000
"""R: units of weight; a function has STEPS + 1 points."""
KEPT_RATIO = 0.5
"""How much of a raw point a new sample leaves (not in the paper: half)."""
DECAY_RATIO = 0.9
"""What is left of a raw point above the current weight after one iteration (section 5.4)."""
RISE = 1e-6
"""The paper's delta: what each step of a function rises at least, so that no two weights look the same."""
_SURE = 1e6
"""Weight of the assumed point (0, 0) in the regression."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class BlockingRates:
    """The raw points of one connection: smoothed blocking rate, 0 to 1, by weight. A value: changes give a new one."""

    points: Mapping[int, float] = dataclasses.field(default_factory=dict)

    def observed(self, weight: int, rate: float) -> BlockingRates:
        """With a sample: the rate seen while the connection had that weight."""
        if not 0 <= weight <= STEPS:
            raise ValueError(f"weight: {weight} given, 0 to {STEPS} is needed")
        if not 0 <= rate < np.inf:
            raise ValueError(f"rate: {rate} given, a finite number of 0 or more is needed")
        if weight == 0:
            return self
        before = self.points.get(weight, rate)
        return BlockingRates(points={**self.points, weight: KEPT_RATIO * before + (1 - KEPT_RATIO) * rate})

    def explored(self, weight: int) -> BlockingRates:
        """With all points above the current weight lowered: they may be out of date, and nothing else would show it."""
        return BlockingRates(
            points={at: rate * (DECAY_RATIO if at > weight else 1.0) for at, rate in self.points.items()}
        )

    def function(self) -> FloatArray:
        """Blocking rate at each weight, strictly rising from 0, (STEPS + 1,).

        Monotone regression over the raw points and the assumed (0, 0), lines between them, and beyond the last point
        the slope of the last line that rises; then RISE for each step.
        """
        at = np.array([0, *sorted(self.points)])
        raw = np.array([0.0, *(self.points[weight] for weight in at[1:].tolist())])
        rates = np.maximum(isotonic_regression(raw, weights=np.where(at == 0, _SURE, 1.0)).x, 0.0)
        rates[0] = 0.0
        steps = np.arange(STEPS + 1)
        values = np.interp(steps, at, rates)
        beyond = steps > at[-1]
        values[beyond] = rates[-1] + _last_slope(at, rates) * (steps[beyond] - at[-1])
        return np.asarray(values + RISE * steps)


def _last_slope(at: IntArray, rates: FloatArray) -> float:
    """Of the line from the last lower rate to the last point; 0 while all are 0."""
    lower = np.flatnonzero(rates < rates[-1])
    if lower.size == 0:
        return 0.0
    before = int(lower[-1])
    return float((rates[-1] - rates[before]) / (at[-1] - at[before]))


def pooled(members: Iterable[BlockingRates]) -> BlockingRates:
    """One function's points for several connections: where several have one, their mean (section 5.3)."""
    seen: dict[int, list[float]] = {}
    for member in members:
        for weight, rate in member.points.items():
            seen.setdefault(weight, []).append(rate)
    return BlockingRates(points={weight: sum(rates) / len(rates) for weight, rates in seen.items()})
