"""Executors that became slow, or well again, seen in a series of batches. Pure.

The same comparison as the cycle's (`streamjob_planners.capacity.turning`): an executor is slow where all its key groups
take longer by one factor and those of others do not, once where it is much, else twice on end; and well again where
they take less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from streamjob_operator.events import Event, EventKind
from streamjob_operator.steps.turned import turned
from streamjob_operator.waking.rows import Rows
from streamjob_planners.capacity.pace import Pace


def slow_executors(rows: Rows, known: Mapping[str, Pace]) -> dict[str, float]:
    """By how much the tasks of each slow executor take longer than they did, beyond what it is planned for."""
    return {name: factor for name, factor in _factors(rows, known).items() if factor > 1.0}


def well_executors(rows: Rows, known: Mapping[str, Pace]) -> dict[str, float]:
    """Executors that are planned for as slow and have become faster: the part of their time that tasks take now."""
    slow = {name for name, one in known.items() if one.speed < 1.0}
    found = _factors(rows, known) if slow else {}
    return {name: factor for name, factor in found.items() if name in slow and factor < 1.0}


def _factors(rows: Rows, known: Mapping[str, Pace]) -> dict[str, float]:
    """How many times longer tasks take on each executor that turned since it came to the pace that is known."""
    found = turned(rows.series, rows.owners, known, rows.slots)
    return {name: one.before.speed / one.speed for name, one in found.items()}


def slow_events(known: Mapping[str, float], found: Mapping[str, float]) -> Iterator[Event]:
    """One for each slow executor that was not known as that."""
    for name in sorted(found.keys() - known.keys()):
        sentence = f"Executor {name} is slow: its key groups take {found[name]:.2g} times as long as they did."
        yield Event(kind=EventKind.EXECUTOR_SLOW, sentence=sentence)


def well_events(known: Mapping[str, float], found: Mapping[str, float]) -> Iterator[Event]:
    """One for each executor that was not known to be faster again."""
    for name in sorted(found.keys() - known.keys()):
        sentence = f"Executor {name} is faster again: its key groups take {found[name]:.2g} of the time that they took."
        yield Event(kind=EventKind.EXECUTOR_WELL, sentence=sentence)
