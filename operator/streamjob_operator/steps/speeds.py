"""Executors that are slower or faster than the others, in words."""

from __future__ import annotations

from streamjob_operator.values import Memory
from streamjob_planners.capacity.pace import Pace

MOST_TOLD = 3
"""Executors that are named; of more only their number is told."""


def unequal(memory: Memory) -> dict[str, Pace]:
    """Executors that are planned for with another speed than 1, the slowest first."""
    known = ((name, pace) for name, pace in memory.batches.paces.items() if pace.speed != 1.0)
    return dict(sorted(known, key=lambda one: (one[1].speed, one[0])))


def sentences(memory: Memory) -> list[str]:
    """One sentence for each of them; none in a fleet of one speed."""
    found = unequal(memory)
    told = [
        f"Executor {name} works at {pace.speed:.2g} of the others' speed ({pace.low:.2g} to {pace.high:.2g})."
        for name, pace in list(found.items())[:MOST_TOLD]
    ]
    more = len(found) - MOST_TOLD
    return [*told, f"{more} more executors are unequal."] if more > 0 else told


def summary(memory: Memory) -> str | None:
    """The slowest executor in a few characters, as a column shows it: `2 at 0.33`; None where none is slow."""
    slow = [(name, pace) for name, pace in unequal(memory).items() if pace.speed < 1.0]
    if not slow:
        return None
    name, pace = slow[0]
    more = f" and {len(slow) - 1} more" if len(slow) > 1 else ""
    return f"{name} at {pace.speed:.2g}{more}"
