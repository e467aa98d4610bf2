"""How far forecasts have been off, of late more than before."""

from __future__ import annotations

import dataclasses

KEEP = 0.93
"""What older errors count for in each newer one: half after ten forecasts."""
UNKNOWN = 0.1
"""Standard deviation of the logarithm, a tenth of the rate, while no forecast has come due."""
MOST_SPREAD = 0.2
"""Largest standard deviation that is believed: what steps no past foretells, and executors for it are not kept."""
NORMAL = 1.2533
"""Standard deviation of a normal variable over its mean absolute deviation."""
OUTLYING = 3.0
"""Times the usual error that one error counts for at most: two and a half standard deviations or so. Rates that step
again and again get there all the same, since the usual error grows with each."""
LEAST_ERROR = 0.02
"""Usual error below which nothing is an outlier: two percent of the rate."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Errors:
    """Weighted mean of absolute errors of the logarithm, and how many forecasts it stands for."""

    absolute: float = 0.0
    weight: float = 0.0

    def with_error(self, error: float, keep: float = KEEP) -> Errors:
        """The same after one more forecast has come due; `keep`: what those before count for beside it, 0 to 1.

        An error far beyond the usual one counts for a bounded multiple of that (Gelper, Fried and Croux, "Robust
        forecasting with exponential and Holt-Winters smoothing", 2010), so that one step is soon forgotten.
        """
        usual = self.absolute if self.weight > 0 else UNKNOWN / NORMAL
        counted = min(abs(error), OUTLYING * max(usual, LEAST_ERROR))
        weight = keep * self.weight + 1.0
        return Errors(absolute=self.absolute + (counted - self.absolute) / weight, weight=weight)

    @property
    def spread(self) -> float | None:
        """Standard deviation of the errors; None before the first."""
        return min(NORMAL * self.absolute, MOST_SPREAD) if self.weight > 0 else None

    @property
    def assumed_spread(self) -> float:
        """The same, UNKNOWN before the first."""
        return UNKNOWN if self.spread is None else self.spread
