"""The newest rates as they came, in even slots: what a period is looked for in."""

from __future__ import annotations

import dataclasses

import numpy as np

from streamjob_planners.arrays import FloatArray
from streamjob_planners.forecast.season import DIGITS

SLOTS = 144
"""Slots that are kept; the longest period that is found is half of them, twice of which has been seen."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """Means of ``ln(rows/s)`` in slots of `slot_s` seconds, counted from the epoch, oldest first, SLOTS at most.

    `means`: None of a slot in which nothing was measured. `open_slot`, `open_sum`, `open_count`: the slot that is going
    on, which comes after the last of them.
    """

    slot_s: float
    means: tuple[float | None, ...] = ()
    open_slot: int | None = None
    open_sum: float = 0.0
    open_count: int = 0

    def with_rate(self, at_s: float, log_rate: float) -> Track:
        """The same after one more measured rate."""
        slot = int(at_s // self.slot_s)
        if self.open_slot is None:
            return dataclasses.replace(self, open_slot=slot, open_sum=log_rate, open_count=1)
        passed = slot - self.open_slot
        if passed <= 0:
            return dataclasses.replace(self, open_sum=self.open_sum + log_rate, open_count=self.open_count + 1)
        closed = round(self.open_sum / self.open_count, DIGITS)
        means = (*self.means, closed, *(None,) * min(passed - 1, SLOTS))[-SLOTS:]
        return dataclasses.replace(self, means=means, open_slot=slot, open_sum=log_rate, open_count=1)

    def known(self) -> FloatArray:
        """The means of the slots that have ended, NaN where nothing was measured, (n_slots,)."""
        return np.array(self.means, dtype=np.float64)

    def usual(self, at_s: FloatArray, width_s: float) -> FloatArray:
        """The logarithm around each moment, NaN where nothing was measured then, shape of `at_s`.

        Slots count the less the further their middles are from it, none from `width_s` on, a slot at least.
        """
        if self.open_slot is None:
            return np.full(at_s.shape, np.nan)
        means, width_s = self.known(), max(width_s, self.slot_s)
        middles_s = (self.open_slot - means.size + np.arange(means.size) + 0.5) * self.slot_s
        weights = np.maximum(0.0, 1.0 - np.abs(at_s[..., None] - middles_s) / width_s) * np.isfinite(means)
        total = weights.sum(axis=-1)
        return np.where(total > 0.0, weights @ np.nan_to_num(means) / np.where(total > 0.0, total, 1.0), np.nan)


def tracks() -> tuple[Track, ...]:
    """From half a minute to a quarter of an hour a slot, for periods of 6 minutes to 18 hours; nothing known."""
    return tuple(Track(slot_s=slot_s) for slot_s in (30.0, 90.0, 300.0, 900.0))
