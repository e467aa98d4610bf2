"""What is remembered of a time without measurements, and of what was known before it."""

from __future__ import annotations

import dataclasses
import enum


class Rung(enum.StrEnum):
    """Rungs of the ladder for times without measurements (`scaling.failSafe`), in their order."""

    HOLD = "hold"
    OUT_ONLY = "outOnly"
    FLOOR = "floor"


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What the newest cycle that asked the scaling rule knew: executors that the rule needed at that moment, a mean
    batch, and the mean state of a key group."""

    needed: int
    batch_s: float
    state_bytes: float


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Outage:
    """Measurements are missing, or have not been back for a whole statistics period.

    Attributes:
        since_s: when a cycle first found none.
        reason: why the newest cycle that found none did not: a stable code.
        base: executors wanted then, None where that was never decided.
        rung: how far up the ladder it has come.
        back_since_s: since when every cycle has found some again; None while they are missing.
    """

    since_s: float
    reason: str
    base: int | None = None
    rung: Rung = Rung.HOLD
    back_since_s: float | None = None

    @property
    def climbed(self) -> bool:
        """Whether it has gone beyond holding."""
        return self.rung is not Rung.HOLD
