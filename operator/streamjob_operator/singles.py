"""How far predictions of single batches were off: a mean over a window hides what each of its batches was."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable

import numpy as np

from streamjob_operator.series import BatchTimes, joined

MOST_OF = 90.0
"""Percent of the batches that the larger figure speaks of."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SingleBatches:
    """Errors in percent of the measured seconds.

    Attributes:
        batches: how many were predicted, 1 or more.
        median_pct: half of them were off by this at most.
        most_pct: nine of ten were off by this at most.
    """

    batches: int
    median_pct: float
    most_pct: float

    @property
    def sentence(self) -> str:
        """For people."""
        if self.batches == 1:
            return f"One batch was predicted by itself, and off by {self.median_pct:.0f} percent."
        return (
            f"Of {self.batches} batches that were predicted one by one, half were off by {self.median_pct:.0f} percent "
            f"at most, nine of ten by {self.most_pct:.0f}."
        )


def single_batches(times: Iterable[BatchTimes | None]) -> SingleBatches | None:
    """Of all batches that cycles have told, each once; None where none was predicted."""
    found = joined(one for one in times if one is not None)
    if found is None or not found.error_ratio.size:
        return None
    median, most = np.percentile(100.0 * found.error_ratio, (50.0, MOST_OF)).tolist()
    return SingleBatches(batches=found.error_ratio.size, median_pct=median, most_pct=most)
