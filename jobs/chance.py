"""Skew, drift and lateness for generators, from one seeded source of chance."""

from __future__ import annotations

import numpy as np

START_MS = 1_700_000_000_000
"""Event time at which every generated stream begins, on a whole number of 100 seconds."""


def zipf(rng: np.random.Generator, keys: int, exponent: float, size: int, turn: int = 0) -> list[int]:
    """Keys 0 to `keys` - 1, key k with weight 1/(k+1)^exponent, (size,). `turn` makes another key the hottest."""
    weight = 1.0 / np.arange(1, keys + 1) ** exponent
    ranks = rng.choice(keys, size=size, p=weight / weight.sum())
    return [int(rank + turn) % keys for rank in ranks]


def times_ms(
    rng: np.random.Generator, since_ms: int, span_ms: int, size: int, late_ratio: float = 0.0, late_ms: int = 1
) -> list[int]:
    """Event times of a span in the order of arrival, (size,); a share of them is older than its place by `late_ms`."""
    on_time = np.sort(rng.integers(0, span_ms, size))
    late = (rng.random(size) < late_ratio) * rng.integers(1, late_ms + 1, size)
    return [int(one) for one in since_ms + on_time - late]


def numbers(rng: np.random.Generator, low: int, high: int, size: int) -> list[int]:
    """Whole numbers from `low` to below `high`, evenly, (size,)."""
    return [int(one) for one in rng.integers(low, high, size)]
