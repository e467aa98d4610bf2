"""A rate that rises or falls: Holt's level and slope, the slope fading out (Gardner and McKenzie, 1985)."""

from __future__ import annotations

import dataclasses
import math

LEVEL_S, SLOPE_S = 120.0, 600.0
"""Time in which what was known of the level, and of the slope, comes to count for 1/e."""
FADES_S = 900.0
"""Time in which a slope has faded to 1/e of itself: nothing rises for ever."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Trend:
    """Level of ``ln(rows/s)`` at a moment and its slope per second; None before the first rate."""

    at_s: float | None = None
    level: float = 0.0
    slope: float = 0.0

    def with_rate(self, at_s: float, log_rate: float) -> Trend:
        """The same after one more measured rate; rates may come at any distance from each other."""
        if self.at_s is None:
            return Trend(at_s=at_s, level=log_rate)
        passed_s = at_s - self.at_s
        if passed_s <= 0.0:
            return self
        expected = self.level + self.rise(passed_s)
        level = expected + (log_rate - expected) * (1.0 - math.exp(-passed_s / LEVEL_S))
        newest = (level - self.level) / passed_s
        slope = self.slope + (newest - self.slope) * (1.0 - math.exp(-passed_s / SLOPE_S))
        return Trend(at_s=at_s, level=level, slope=slope)

    def rise(self, ahead_s: float) -> float:
        """By how much the logarithm is expected to rise in so many seconds."""
        return self.slope * FADES_S * (1.0 - math.exp(-ahead_s / FADES_S))
