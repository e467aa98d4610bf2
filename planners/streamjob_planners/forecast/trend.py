"""A rate that rises or falls: Holt's level and slope, the slope fading out (Gardner and McKenzie, 1985)."""

from __future__ import annotations

import dataclasses
import math

from streamjob_planners.forecast.errors import LEAST_ERROR, NORMAL, Errors

LEVEL_S, SLOPE_S = 120.0, 600.0
"""Time in which what was known of the level, and of the slope, comes to count for 1/e."""
FADES_S = 900.0
"""Time in which a slope has faded to 1/e of itself: nothing rises for ever."""
STEP = 5.0
"""Standard deviations from what was expected from which a rate is a step."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Level of ``ln(rows/s)`` at a moment and its slope per second; None before the first rate.

    `errors`: of each rate's logarithm against what level and slope let expect of it.
    """

    at_s: float | None = None
    level: float = 0.0
    slope: float = 0.0
    errors: Errors = dataclasses.field(default_factory=Errors)

    def with_rate(self, at_s: float, log_rate: float) -> Trend:
        """The same after one more measured rate; rates may come at any distance from each other.

        A rate far from what was expected is a step: the level goes there at once, and the slope stays what it was, as
        outliers are kept from it in the robust method of Gelper, Fried and Croux (2010).
        """
        if self.at_s is None:
            return Trend(at_s=at_s, level=log_rate)
        passed_s = at_s - self.at_s
        if passed_s <= 0.0:
            return self
        expected = self.level + self.rise(passed_s)
        errors = self.errors.with_error(log_rate - expected)
        if abs(log_rate - expected) > STEP * max(self.errors.assumed_spread, NORMAL * LEAST_ERROR):
            return Trend(at_s=at_s, level=log_rate, slope=self.slope, errors=errors)
        level = expected + (log_rate - expected) * (1.0 - math.exp(-passed_s / LEVEL_S))
        newest = (level - self.level) / passed_s
        slope = self.slope + (newest - self.slope) * (1.0 - math.exp(-passed_s / SLOPE_S))
        return Trend(at_s=at_s, level=level, slope=slope, errors=errors)

    def rise(self, ahead_s: float) -> float:
        """By how much the logarithm is expected to rise in so many seconds."""
        return self.slope * FADES_S * (1.0 - math.exp(-ahead_s / FADES_S))
