"""What a job's batches are to be: when they end, and what key groups take in them. Drawn from seeds. Pure."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.model import FloatArray

GROUPS = 32
SHORTEST_S, LONGEST_S = 1.0, 3.0
"""From one end to the next, any length alike: no scrape interval is a multiple of them."""
NOISE = 0.1
"""Of a key group's seconds in a batch, as a part of its mean; half as much for the batch as a whole."""
SHIFTED = 0.3
"""Part of all work that half of the key groups give to the others."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Course:
    """Batches of one job, oldest first.

    Attributes:
        ends_s: when each is to end, since the run's begin, (n_batches,), increasing.
        busy_s: seconds of each key group, (n_batches, n_groups).
        shifted: the first batch whose work is shared in the other way.
    """

    ends_s: FloatArray
    busy_s: FloatArray
    shifted: int


def course(seed: int, before_s: float, after_s: float) -> Course:
    """Batches for so long before the shift of the load and after it."""
    rng = np.random.default_rng(seed)
    most = int((before_s + after_s) / SHORTEST_S) + 1
    ends_s = np.cumsum(rng.uniform(SHORTEST_S, LONGEST_S, most))
    ends_s = ends_s[ends_s <= before_s + after_s]
    mean_s, shifted = rng.lognormal(-3.0, 0.5, GROUPS), int(np.searchsorted(ends_s, before_s))
    busy_s = np.tile(mean_s, (ends_s.size, 1))
    busy_s[shifted:] = _shared_anew(mean_s, rng)
    whole = rng.lognormal(0.0, NOISE / 2, (ends_s.size, 1))
    return Course(ends_s=ends_s, busy_s=busy_s * whole * rng.lognormal(0.0, NOISE, busy_s.shape), shifted=shifted)


def _shared_anew(mean_s: FloatArray, rng: np.random.Generator) -> FloatArray:
    """The same work in sum: half of the key groups, by chance, give SHIFTED of it to the others."""
    gives = rng.permutation(GROUPS) < GROUPS // 2
    given_s = SHIFTED * mean_s.sum()
    anew_s = mean_s.copy()
    anew_s[gives] *= 1.0 - given_s / mean_s[gives].sum()
    anew_s[~gives] *= 1.0 + given_s / mean_s[~gives].sum()
    return np.asarray(anew_s, dtype=np.float64)
