"""What a turn of a StreamJob answers: how long it may rest, or what it stopped short of."""

from __future__ import annotations

import enum


class Due(enum.Enum):
    """What a turn stopped short of."""

    CYCLE = "cycle"


CYCLE_DUE = Due.CYCLE
Rest = float | None | Due
"""Seconds until the next turn, None when the StreamJob is gone; or a cycle is due, and was not run."""
