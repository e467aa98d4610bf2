"""The shape of a day or a week: the usual logarithm of the rate, part by part."""

from __future__ import annotations

import dataclasses
import math

FOLD = 0.4
"""What the newest round counts for in a part's mean: half of it is from the last two rounds (exponential smoothing of
the seasonal part, Winters 1960)."""
DIGITS = 3
"""Decimals of a logarithm that are kept: a tenth of a percent of the rate."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Season:
    """Means of ``ln(rows/s)`` in equal parts of a round of `period_s` seconds, counted from the epoch in UTC.

    `parts`: one mean each, None of a part that no round has shown. `open_part`, `open_sum`, `open_count`: the part that
    is going on, which is folded in at its end, so that a forecast rests on earlier rounds alone.
    """

    period_s: float
    parts: tuple[float | None, ...]
    open_part: int | None = None
    open_sum: float = 0.0
    open_count: int = 0

    def with_rate(self, at_s: float, log_rate: float) -> Season:
        """The same after one more measured rate."""
        part = self._part(at_s)
        if part != self.open_part:
            return dataclasses.replace(self._folded(), open_part=part, open_sum=log_rate, open_count=1)
        return dataclasses.replace(self, open_sum=self.open_sum + log_rate, open_count=self.open_count + 1)

    def rise(self, from_s: float, to_s: float) -> float | None:
        """By how much the logarithm usually rises from one moment to another; None where no round has shown both."""
        before, after = self._usual(from_s), self._usual(to_s)
        return None if before is None or after is None else after - before

    def _usual(self, at_s: float) -> float | None:
        """Between the middles of two parts, along a straight line."""
        length_s = self.period_s / len(self.parts)
        place = (at_s % self.period_s) / length_s - 0.5
        first = math.floor(place)
        one, other = (self.parts[part % len(self.parts)] for part in (first, first + 1))
        if one is None or other is None:
            return None
        return one + (place - first) * (other - one)

    def _part(self, at_s: float) -> int:
        return min(int((at_s % self.period_s) / self.period_s * len(self.parts)), len(self.parts) - 1)

    def _folded(self) -> Season:
        if self.open_part is None or self.open_count == 0:
            return self
        mean, known = self.open_sum / self.open_count, self.parts[self.open_part]
        folded = mean if known is None else known + FOLD * (mean - known)
        parts = (*self.parts[: self.open_part], round(folded, DIGITS), *self.parts[self.open_part + 1 :])
        return dataclasses.replace(self, parts=parts)


def day() -> Season:
    """A day in quarters of an hour, nothing known."""
    return Season(period_s=86400.0, parts=(None,) * 96)


def week() -> Season:
    """A week in hours, nothing known."""
    return Season(period_s=7 * 86400.0, parts=(None,) * 168)
