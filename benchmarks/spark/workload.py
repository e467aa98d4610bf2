"""What each key group of the benchmark job costs: skew that is computed, so that the best makespan is known."""

from __future__ import annotations

import dataclasses

import numpy as np

SKEWS = ("uniform", "hot", "skewed", "shifting", "none")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`group_ms[phase][p]` is the work of a whole key group in each batch of a phase, (n_phases, n_partitions)."""

    group_ms: np.ndarray
    batches_per_phase: int

    def makespan_ms(self, slots: int, batch: int) -> float:
        """A lower bound on the stateful stage of one batch: all slots busy, or the largest key group."""
        row = self.group_ms[batch // self.batches_per_phase % len(self.group_ms)]
        return float(max(row.sum() / slots, row.max()))


def key_group_ms(skew: str, partitions: int, total_ms: float, rng: np.random.Generator) -> np.ndarray:
    """Work of each key group per batch and phase, (n_phases, n_partitions), every row sums to total_ms.

    uniform: the same everywhere. hot: three key groups take half of the work (hot keys). skewed: Zipf with exponent
    0.8 in random order. shifting: the skewed profile, rotated by a third twice. none: no work, which measures
    the fixed cost.
    """
    if skew == "none":
        return np.zeros((1, partitions))
    shape = np.ones(partitions)
    if skew == "hot":
        shape = np.full(partitions, 0.5 / (partitions - 3))
        shape[rng.choice(partitions, 3, replace=False)] = 0.5 / 3
    if skew in ("skewed", "shifting"):
        shape = rng.permutation(1.0 / np.arange(1, partitions + 1) ** 0.8)
    row = shape / shape.sum() * total_ms
    phases = [row, np.roll(row, partitions // 3), np.roll(row, 2 * partitions // 3)] if skew == "shifting" else [row]
    return np.stack(phases)
