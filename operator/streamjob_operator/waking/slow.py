"""Executors that became slow, or well again, seen in a series of batches. Pure.

The same comparison as the cycle's (`streamjob_planners.capacity.turning`): an executor is slow where all its key groups
take longer by one factor and those of others do not, once where it is much, else twice on end; and well again where
they take less.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator, Mapping

from streamjob_operator.events import Event, EventKind
from streamjob_operator.steps.turned import comparable, turned
from streamjob_operator.waking.rows import Rows
from streamjob_planners.capacity.pace import Pace


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Turned:
    """How many times longer tasks take on executors than they are planned for: above 1 on those that became `slow`,
    below 1 on those that were planned for as slow and are `well` again."""

    slow: Mapping[str, float] = dataclasses.field(default_factory=dict)
    well: Mapping[str, float] = dataclasses.field(default_factory=dict)


def turned_executors(rows: Rows, known: Mapping[str, Pace], alike_since_s: float | None) -> Turned:
    """Who turned since it came to the pace that is known; the load changed at a moment that is known, too, or None."""
    found = turned(comparable(rows.series, alike_since_s, known), rows.owners, known, rows.slots)
    factors = {name: one.before.speed / one.speed for name, one in found.items()}
    planned = {name for name, one in known.items() if one.speed < 1.0}
    return Turned(
        slow={name: factor for name, factor in factors.items() if factor > 1.0},
        well={name: factor for name, factor in factors.items() if factor < 1.0 and name in planned},
    )


def speed_events(known: Turned, found: Turned) -> Iterator[Event]:
    """One for each executor that was not known to have turned so."""
    for name in sorted(found.slow.keys() - known.slow.keys()):
        sentence = f"Executor {name} is slow: its key groups take {found.slow[name]:.2g} times as long as they did."
        yield Event(kind=EventKind.EXECUTOR_SLOW, sentence=sentence)
    for name in sorted(found.well.keys() - known.well.keys()):
        takes = f"its key groups take {found.well[name]:.2g} of the time that they took"
        yield Event(kind=EventKind.EXECUTOR_WELL, sentence=f"Executor {name} is faster again: {takes}.")
