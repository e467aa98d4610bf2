"""The two synthetic streams of the CBP paper (section 6.2): how their tuples spread over partitions, minute by minute.

Uniform keys only make the rate swing, Zipf keys also change which values are popular. The rate is a Poisson process of
10,000 tuples/s whose mean takes steps: a constant mean would vary by 0.1 % a minute, and nothing would ever scale.
"""

from __future__ import annotations

import dataclasses
import functools

import numpy as np

from streamjob_planners.arrays import FloatArray

ATTRIBUTES = ("ts", "a1", "a2", "a3", "a4")
"""The schema of section 6.2. `ts` has 60 values a minute, all equally often, whatever the stream."""
RATE_RPS, MINUTES, PARTITIONS, VALUES = 10_000.0, 120, 100, 100
SWAPS = 6
"""Pairs of values of an attribute that change places in popularity each minute."""
STEP_MINUTES, STEPS = 5, (0.6, 0.8, 1.0, 1.2, 1.4)


@dataclasses.dataclass(frozen=True)
class SourceStream:
    """One stream; `skewed` is the paper's s2 (Zipf, exponent 1), else s1 (uniform)."""

    skewed: bool
    seed: int

    @functools.cached_property
    def rate(self) -> FloatArray:
        """Rate of each minute over its mean, (MINUTES,): a walk over the steps."""
        rng = np.random.default_rng([self.seed, 1])
        place, walk = len(STEPS) // 2, []
        for _ in range(-(-MINUTES // STEP_MINUTES)):
            place = int(np.clip(place + rng.integers(-1, 2), 0, len(STEPS) - 1))
            walk.append(STEPS[place])
        rate = np.repeat(walk, STEP_MINUTES)[:MINUTES]
        return rate / rate.mean()

    @functools.cached_property
    def _popularity(self) -> dict[str, FloatArray]:
        """Share of each value of each attribute, (MINUTES, VALUES)."""
        return {name: self._shares(number) for number, name in enumerate(ATTRIBUTES)}

    def _shares(self, number: int) -> FloatArray:
        even = np.full((MINUTES, VALUES), 1.0 / VALUES)
        if not self.skewed or ATTRIBUTES[number] == "ts":
            return even
        rng = np.random.default_rng([self.seed, 2, number])
        share = 1.0 / np.arange(1, VALUES + 1)
        share = rng.permutation(share / share.sum())
        for minute in range(MINUTES):
            even[minute] = share
            for one, other in rng.integers(0, VALUES, (SWAPS, 2)):
                share[[one, other]] = share[[other, one]]
        return even

    @functools.cache  # noqa: B019 - streams live as long as the program
    def partitions(self, key: frozenset[str]) -> FloatArray:
        """Share of each partition when tuples are partitioned by a hash of these attributes, (MINUTES, PARTITIONS)."""
        names = sorted(key)[:2]  # keys of section 6.2 have two attributes, and components share one or both
        hashed = np.random.default_rng([self.seed, 3, *(ATTRIBUTES.index(name) for name in names)])
        first = self._popularity[names[0]]
        if len(names) == 1:
            place = hashed.permutation(VALUES) % PARTITIONS
            return np.stack([np.bincount(place, row, PARTITIONS) for row in first])
        place = hashed.integers(0, PARTITIONS, VALUES * VALUES)
        second = self._popularity[names[1]]
        return np.stack(
            [np.bincount(place, np.outer(a, b).ravel(), PARTITIONS) for a, b in zip(first, second, strict=True)]
        )
