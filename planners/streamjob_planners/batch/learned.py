"""Parameters of a job that are learned from its batches, each with an interval; newer windows count for more."""

from __future__ import annotations

import dataclasses
import math

KEEP = 0.9
"""What all older windows count for in each newer one: half after about seven."""
DEVIATIONS = 2.0
"""Standard errors on each side of an interval: nineteen of twenty."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Learned:
    """One parameter: weighted mean of the windows, in its own unit.

    `weight` is how many windows it stands for, `squares` the weighted sum of squared differences from the mean.
    """

    mean: float
    weight: float = 1.0
    squares: float = 0.0

    def with_value(self, value: float) -> Learned:
        """The same after one more window."""
        weight = KEEP * self.weight + 1.0
        mean = self.mean + (value - self.mean) / weight
        squares = KEEP * self.squares + (value - self.mean) * (value - mean)
        return Learned(mean=mean, weight=weight, squares=squares)

    @property
    def error(self) -> float | None:
        """Half the width of the mean's interval; None of fewer than two windows."""
        if self.weight <= 1.0:
            return None
        return DEVIATIONS * math.sqrt(max(self.squares, 0.0) / (self.weight - 1.0) / self.weight)


def learned(before: Learned | None, value: float) -> Learned:
    """What is known after one more window."""
    return Learned(mean=value) if before is None else before.with_value(value)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class MoveEvidence:
    """What moves have cost: sums over moved groups of weight, bytes x, seconds y; older ones count for less.

    It begins with what was measured with RocksDB on local disks, 0.2 s for 1 MB and 1.3 s for 200 MB, which stands for
    as many groups as `PRIOR` says: a handful of moves of the job itself outweighs it.
    """

    weight: float
    x: float
    y: float
    xx: float
    xy: float
    yy: float = 0.0
    told: float = 0.0  # moves of the job itself among the weight

    @classmethod
    def prior(cls) -> MoveEvidence:
        """Before the first move."""
        points = [(PRIOR_SMALL, _prior_s(PRIOR_SMALL)), (PRIOR_LARGE, _prior_s(PRIOR_LARGE))]
        half = PRIOR / 2.0
        return cls(
            weight=PRIOR,
            x=half * sum(size for size, _ in points),
            y=half * sum(seconds for _, seconds in points),
            xx=half * sum(size * size for size, _ in points),
            xy=half * sum(size * seconds for size, seconds in points),
            yy=half * sum(seconds * seconds for _, seconds in points),
        )

    def with_move(self, state_bytes: float, seconds: float) -> MoveEvidence:
        """The same after one more moved group."""
        return MoveEvidence(
            weight=KEEP_MOVE * self.weight + 1.0,
            x=KEEP_MOVE * self.x + state_bytes,
            y=KEEP_MOVE * self.y + seconds,
            xx=KEEP_MOVE * self.xx + state_bytes * state_bytes,
            xy=KEEP_MOVE * self.xy + state_bytes * seconds,
            yy=KEEP_MOVE * self.yy + seconds * seconds,
            told=KEEP_MOVE * self.told + 1.0,
        )

    @property
    def line(self) -> tuple[float, float]:
        """Seconds of a move without state, and seconds per byte: least squares, both 0 or more."""
        spread = self.weight * self.xx - self.x * self.x
        slope = max(0.0, (self.weight * self.xy - self.x * self.y) / spread) if spread > 0 else 0.0
        fixed = (self.y - slope * self.x) / self.weight
        if fixed < 0.0:
            return 0.0, max(0.0, self.xy / self.xx)
        return fixed, slope

    @property
    def error_s(self) -> float:
        """Half the width of the interval of the mean move's seconds."""
        fixed, slope = self.line
        left = self.yy - fixed * self.y - slope * self.xy
        return DEVIATIONS * math.sqrt(max(left, 0.0) / self.weight / max(self.weight - 2.0, 1.0))


PRIOR = 4.0
"""Moves that what was measured elsewhere counts for."""
KEEP_MOVE = 0.98
"""What older moves count for in each newer one: half after about 35."""
PRIOR_SMALL, PRIOR_LARGE = 1e6, 2e7
"""State bytes of the two moves that stand for it, on the line that was measured."""


def _prior_s(state_bytes: float) -> float:
    return 0.2 + 5.5e-9 * state_bytes
