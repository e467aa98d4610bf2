"""The keys of the benchmark job and what each costs: skew that is computed, so that the best makespan is known.

A key's key group is the partition that Spark's own hash gives it. Every batch touches every key once, so a key group's
work per batch is the sum of its keys' costs.
"""

from __future__ import annotations

import dataclasses

import numpy as np

SKEWS = ("uniform", "hot", "skewed", "shifting", "none")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Workload:
    """`keys[p]` are the keys of partition p; `cost_ms[phase][p]` is the work of each of them in that phase."""

    keys: tuple[tuple[int, ...], ...]
    group_ms: np.ndarray  # (n_phases, n_partitions) work of a whole key group per batch, milliseconds

    def makespan_ms(self, slots: int) -> float:
        """Mean over the phases of a lower bound on one stateful stage: all slots busy, or the largest key group."""
        return float(np.maximum(self.group_ms.sum(axis=1) / slots, self.group_ms.max(axis=1)).mean())

    def cost_of_key(self) -> list[dict[int, float]]:
        """For each phase: key -> milliseconds."""
        return [
            {key: float(row[p] / len(keys)) for p, keys in enumerate(self.keys) for key in keys}
            for row in self.group_ms
        ]


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
