"""Values that travel with the verdict: what executors that are to come shall own, and those of the next start."""

from __future__ import annotations

import dataclasses

from streamjob_planners.model import Effect, IntArray


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Arrivals:
    """What executors that are to come shall own; rows are key groups, in the order in which they move.

    Attributes:
        executors: how many are to come.
        groups: indices of key groups, (n_moves,).
        places: which one owns each, from 1, in the order of their coming, (n_moves,).
        cost_s: what each move adds to a batch of today's length; of moves that load side by side only one counts.
        after: the effect once all have come.
    """

    executors: int
    groups: tuple[int, ...]
    places: tuple[int, ...]
    cost_s: tuple[float, ...]
    after: Effect


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class NextStart:
    """Where key groups shall be when a driver starts again.

    Attributes:
        place_of: the executor of each key group, from 0, (n_groups,).
        executors: how many there shall be then.
        told: what was done, and why, in a sentence.
    """

    place_of: IntArray
    executors: int
    told: str
