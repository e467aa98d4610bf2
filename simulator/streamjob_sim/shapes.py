"""What arrives: the rate over time and how it is spread over the partitions."""

from __future__ import annotations

import math
from typing import Annotated

import numpy as np
from pydantic import Field, model_validator

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import Duration
from streamjob_planners.model import FloatArray


class Step(Part):
    """From a moment on, another rate."""

    at_s: Duration = Field(alias="at", ge=0)
    """When, since the start of the world. Duration, required."""

    rate: float = Field(ge=0, le=1e12)
    """Records per second from then on. Required, 0 or more."""


class Wave(Part):
    """A sine on top of the rate."""

    amplitude: float = Field(ge=0, le=1)
    """Height relative to the rate, 0 to 1. Required."""

    period_s: Duration = Field(alias="period", gt=0)
    """Length of one wave. Duration, required."""


class Spikes(Part):
    """Short times at a multiple of the rate."""

    every_s: Duration = Field(alias="every", gt=0)
    """Time from the start of one spike to the next; the first starts after this time. Duration, required."""

    length_s: Duration = Field(alias="length", gt=0)
    """How long a spike lasts. Duration, required."""

    factor: float = Field(ge=0, le=1000)
    """What the rate is multiplied by. Required, 0 to 1000."""


class Point(Part):
    """The rate at a moment; between two points it changes evenly."""

    at_s: Duration = Field(alias="at", ge=0)
    """When, since the start of the world. Duration, required."""

    rate: float = Field(ge=0, le=1e12)
    """Records per second then. Required, 0 or more."""


class Arrival(Part):
    """Records per second: base rate, steps or points, times a wave, times spikes, times noise."""

    rate: float = Field(ge=0, le=1e12)
    """Records per second at the start. Required, 0 or more."""

    steps: tuple[Step, ...] = ()
    """Later rates, in the order of time. Default: none."""

    points: tuple[Point, ...] = ()
    """Rates that change evenly from one point to the next, in the order of time, in place of the base rate and of
    steps; the first and the last hold before and after. Default: none."""

    wave: Wave | None = None
    """A sine on top. Default: none."""

    spikes: Spikes | None = None
    """Short times at a multiple of the rate. Default: none."""

    noise: float = Field(default=0.0, ge=0, le=2)
    """Relative standard deviation of each second's arrivals. Default 0, range 0 to 2."""

    @model_validator(mode="after")
    def _in_order(self) -> Arrival:
        for name, times in (("steps", [one.at_s for one in self.steps]), ("points", [one.at_s for one in self.points])):
            if times != sorted(times):
                raise ValueError(f"{name} must be in the order of time")
        if self.points and self.steps:
            raise ValueError("points and steps are given; one of them says all")
        return self


class Skew(Part):
    """How a partition's share of the records comes about: hashed keys, hot partitions, shifts."""

    keys: int = Field(default=10_000, ge=1, le=1_000_000)
    """Number of keys that are hashed to partitions (only with an exponent). Default 10000, range 1 to 1000000."""

    exponent: float = Field(default=0.0, ge=0, le=5)
    """Exponent of the keys' Zipf distribution; 0 gives every partition the same share. Default 0, range 0 to 5."""

    hot_partitions: int = Field(default=0, ge=0, le=100_000)
    """Partitions that receive `hotShare` together, beside their normal share of the rest. Default 0."""

    hot_share: float = Field(default=0.0, ge=0, le=1)
    """Share of all records that goes to the hot partitions, 0 to 1. Default 0."""

    hot_from_s: Duration = Field(default=0.0, alias="hotFrom", ge=0)
    """When the hot partitions become hot, since the start of the world. Duration, default 0s."""

    shares: tuple[Annotated[float, Field(ge=0, le=1)], ...] | None = Field(default=None, min_length=1)
    """Share of each partition as it is known, in place of keys. 0 to 1 each, scaled to a sum of 1. Default: none."""

    shift_every_s: Duration | None = Field(default=None, alias="shiftEvery", gt=0)
    """Time in which the whole pattern slides `shiftBy` partitions further. Duration, default: it never does."""

    shift_by: int = Field(default=1, ge=1, le=100_000)
    """Partitions by which the pattern slides in that time. Default 1."""

    @model_validator(mode="after")
    def _some(self) -> Skew:
        if self.shares is not None and not sum(self.shares) > 0:
            raise ValueError("shares: one of them must be above 0")
        return self


def arrivals(arrival: Arrival, duration_s: float, rng: np.random.Generator) -> FloatArray:
    """Records arrived until each whole second, (ceil(duration_s) + 1,), starting with 0."""
    second = np.arange(int(np.ceil(duration_s)), dtype=np.float64)
    rate = _base(arrival, second)
    if arrival.wave is not None:
        rate = rate * (1 + arrival.wave.amplitude * np.sin(2 * np.pi * second / arrival.wave.period_s))
    if arrival.spikes is not None:
        spiking = (second >= arrival.spikes.every_s) & (second % arrival.spikes.every_s < arrival.spikes.length_s)
        rate = np.where(spiking, rate * arrival.spikes.factor, rate)
    return np.concatenate(([0.0], np.cumsum(rate * noise(arrival.noise, second.size, rng))))


def arrived_at(arrived: FloatArray, at_s: FloatArray) -> FloatArray:
    """Records arrived until each of these moments, (n,), ascending, n > 0; before the first and after the last second
    as then.

    `arrived`: see :func:`arrivals`. Only the seconds around these moments are looked at: a week has 604,800.
    """
    first = min(max(int(at_s[0]), 0), arrived.size - 1)
    last = min(max(math.ceil(at_s[-1]), first), arrived.size - 1)
    return np.interp(at_s, np.arange(first, last + 1), arrived[first : last + 1])


def _base(arrival: Arrival, second: FloatArray) -> FloatArray:
    """The rate by points or steps, (n_seconds,)."""
    if arrival.points:
        return np.interp(second, [one.at_s for one in arrival.points], [one.rate for one in arrival.points])
    starts = np.array([0.0, *(step.at_s for step in arrival.steps)])
    rates = np.array([arrival.rate, *(step.rate for step in arrival.steps)])
    found: FloatArray = rates[np.searchsorted(starts, second, side="right") - 1]
    return found


def noise(deviation: float, size: int, rng: np.random.Generator) -> FloatArray:
    """Lognormal factors of mean 1 and the given relative standard deviation, (size,)."""
    variance = np.log1p(deviation**2)
    return np.exp(rng.normal(-variance / 2, np.sqrt(variance), size))


def shares(skew: Skew, n_partitions: int, rng: np.random.Generator) -> FloatArray:
    """Share of each partition at the start, sums to 1, (n_partitions,)."""
    return heated(placed(skew, n_partitions, rng), skew, rng)


def placed(skew: Skew, n_partitions: int, rng: np.random.Generator) -> FloatArray:
    """The same without hot partitions: as they are known, as keys are hashed, or even."""
    if skew.shares is not None:
        return np.array(skew.shares) / sum(skew.shares)
    if skew.exponent <= 0:
        return np.full(n_partitions, 1.0 / n_partitions)
    weight = np.arange(1, skew.keys + 1, dtype=np.float64) ** -skew.exponent
    found = np.bincount(rng.integers(n_partitions, size=skew.keys), weight / weight.sum(), n_partitions)
    return found.astype(np.float64)


def heated(share: FloatArray, skew: Skew, rng: np.random.Generator) -> FloatArray:
    """Shares with the hot partitions, (n_partitions,)."""
    hot = min(skew.hot_partitions, share.size)
    if not hot:
        return share
    share = share * (1 - skew.hot_share)
    share[rng.choice(share.size, size=hot, replace=False)] += skew.hot_share / hot
    return share


def shifted(share: FloatArray, skew: Skew, at_s: float) -> FloatArray:
    """The shares at a moment: the pattern slides evenly, so between two positions it is a blend of both."""
    if skew.shift_every_s is None:
        return share
    position = at_s / skew.shift_every_s * skew.shift_by
    whole, part = int(position), position - int(position)
    return (1 - part) * np.roll(share, whole) + part * np.roll(share, whole + 1)
