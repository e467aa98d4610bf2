"""Rates over time, as points between which they change evenly. Rates are multiples of a base rate of 1."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

Curve = tuple[tuple[float, float], ...]
"""(share of the trace's length 0 to 1, multiple of the base rate), in the order of time."""

WEEKDAYS = (1.0, 1.05, 1.05, 1.0, 0.95, 0.65, 0.6)
"""Height of the days of a week: a weekend well below its working days."""
POINTS_A_DAY = 48


def _sampled(height: Callable[[float], float], points: int) -> Curve:
    return tuple((at, height(at)) for at in np.linspace(0.0, 1.0, points).tolist())


def diurnal(chance: np.random.Generator) -> Curve:
    """One day: a night at a third, a morning that rises, two humps; when they come differs from day to day."""
    shift, tilt = chance.uniform(-0.04, 0.04), chance.uniform(0.0, 0.25)
    return _sampled(lambda at: day(at + shift, tilt), POINTS_A_DAY + 1)


def day(at: float, tilt: float) -> float:
    """A day's height at a part of it: two harmonics, from 0.3 to about 1.1."""
    return max(0.2, 0.65 - 0.4 * math.cos(2 * math.pi * at) - tilt * math.cos(4 * math.pi * (at - 0.05)) * 0.5)


def weekly(chance: np.random.Generator) -> Curve:
    """Seven days, the last two lower, each day a little unlike the others."""
    heights = np.array(WEEKDAYS) * chance.uniform(0.93, 1.07, len(WEEKDAYS))
    tilt = chance.uniform(0.0, 0.2)

    def height(at: float) -> float:
        return float(heights[min(int(at * 7), 6)]) * day(at * 7 % 1.0, tilt)

    return _sampled(height, 7 * 16 + 1)


def flash_crowd(chance: np.random.Generator) -> Curve:
    """A quiet stream, then several times as much within a minute or two, which dies away slowly."""
    begins, peak = chance.uniform(0.3, 0.4), chance.uniform(2.2, 2.8)
    rises = [(0.0, 0.35), (begins, 0.35), (begins + 0.015, 0.35 * peak)]
    falls = [(at, 0.35 + 0.35 * (peak - 1) * np.exp(-(at - begins) / 0.15)) for at in np.linspace(begins + 0.03, 1, 24)]
    return (*rises, *((float(at), float(height)) for at, height in falls))


def ramp(chance: np.random.Generator) -> Curve:
    """From a quarter up to full height, evenly, then a plateau."""
    top = chance.uniform(0.95, 1.05)
    return ((0.0, 0.25), (0.1, 0.25), (0.8, top), (1.0, top))


def sawtooth(chance: np.random.Generator) -> Curve:
    """Four teeth: slow rise, sudden fall."""
    high = chance.uniform(0.9, 1.05, 4)
    return tuple(
        point for n in range(4) for point in ((n / 4, 0.3), ((n + 0.97) / 4, float(high[n])), ((n + 0.98) / 4, 0.3))
    )


def step(chance: np.random.Generator) -> Curve:
    """Doubled at a moment, and back to less than before at another."""
    up, down = chance.uniform(0.2, 0.3), chance.uniform(0.6, 0.7)
    low = chance.uniform(0.25, 0.35)
    return ((0.0, 0.45), (up, 0.45), (up + 0.001, 0.95), (down, 0.95), (down + 0.001, low), (1.0, low))


def steady(chance: np.random.Generator) -> Curve:
    """Nearly level: what happens, happens elsewhere."""
    level = chance.uniform(0.55, 0.65)
    return ((0.0, level), (1.0, level))


def outage(chance: np.random.Generator) -> Curve:
    """The source is silent for a while, then brings within a short time all that had gathered."""
    level, begins = chance.uniform(0.45, 0.55), chance.uniform(0.3, 0.4)
    silent, burst = 0.1, 0.03
    heap = level * (silent + burst) / burst
    ends = begins + silent
    return (
        (0.0, level),
        (begins, level),
        (begins + 0.001, 0.0),
        (ends, 0.0),
        (ends + 0.001, heap),
        (ends + burst, heap),
        (ends + burst + 0.001, level),
        (1.0, level),
    )
