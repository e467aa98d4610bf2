"""The knobs of ALBIC beside those that every planner has (paper, algorithm 2 and table 3)."""

from __future__ import annotations

import dataclasses

INNER = "search"
"""The registry's planner that balances units."""

_ABOVE_ZERO = ("score_factor", "partition_step")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AlbicSettings:
    """Defaults are the paper's where it has the knob.

    Attributes:
        score_factor: a pair counts when it carries more than this many times its sender's mean, > 0 (sF).
        max_partition_load: heaviest unit, percent points of load, >= 0 (maxPL).
        partition_step: how much lighter units get when the load distance is too large, > 0 (stepPL).
        least_gain_ratio: part of all traffic that a new target must make local before a walk starts, 0 to 1; a fifth
            of it is what balancing may cost. Keeps a quiet job quiet. Not in the paper.
        move_price_ratio: part of all traffic that moving every key group must gain, 0 to 1: at 0.05, moving a fifth of
            the key groups must make a hundredth of the traffic local. Not in the paper.
    """

    score_factor: float = 1.5
    max_partition_load: float = 25.0
    partition_step: float = 5.0
    least_gain_ratio: float = 0.01
    move_price_ratio: float = 0.05

    def __post_init__(self) -> None:
        for field in dataclasses.fields(self):
            value = getattr(self, field.name)
            if not value >= 0 or (value == 0 and field.name in _ABOVE_ZERO):
                raise ValueError(
                    f"{field.name}: {value} given, {'more than 0' if value == 0 else '0 or more'} is needed"
                )
