"""Executors that became slow, or well again, seen in the two newest batches of a series. Pure.

The same comparison as that of whole windows (`streamjob_planners.capacity.pace`): an executor is slow where all its key
groups take longer by one factor and those of others do not, twice on end; and well again where they take less.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from streamjob_operator.events import Event, EventKind
from streamjob_operator.waking.rows import Rows
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.pace import LEAST_FACTOR, WINDOWS, Pace, Seen
from streamjob_planners.model import FloatArray, IntArray

LEAST_BEFORE = 6
"""Batches that say what key groups usually take."""


def slow_executors(rows: Rows) -> dict[str, float]:
    """By how much the tasks of each slow executor take longer than they did before the two newest rows."""
    found = _paces(rows.series.busy_s, rows.owners, {})
    return {name: 1.0 / one.speed for name, one in found.items() if one.speed * LEAST_FACTOR <= 1.0}


def well_executors(rows: Rows, known: Mapping[str, Pace]) -> dict[str, float]:
    """Executors that are planned for as slow and have become faster: the part of their time that tasks take now.

    Held against the LEAST_BEFORE rows before the two newest: further back it may have been well.
    """
    slow = {name: one for name, one in known.items() if one.speed * LEAST_FACTOR <= 1.0}
    if not slow:
        return {}
    found = _paces(rows.series.busy_s[-LEAST_BEFORE - WINDOWS :], rows.owners, slow)
    parts = {name: one.speed / found.get(name, Pace()).speed for name, one in slow.items()}
    return {name: part for name, part in parts.items() if part * LEAST_FACTOR <= 1.0}


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


def _paces(busy_s: FloatArray, owners: Sequence[str | None], known: Mapping[str, Pace]) -> Mapping[str, Pace]:
    """Executors' paces after the two newest rows, from those known; the same where there are too few rows."""
    names = tuple(sorted({one for one in owners if one is not None}))
    if len(names) < 2 or len(busy_s) < LEAST_BEFORE + WINDOWS:
        return known
    of = {name: at for at, name in enumerate(names)}
    owner = np.array([-1 if one is None else of[one] for one in owners], dtype=np.int64)
    paces = known
    for seen in _windows(busy_s, owner):
        paces = pace.with_window(paces, names, seen).by_executor
    return paces


def _windows(busy_s: FloatArray, owner: IntArray) -> Iterator[Seen]:
    """The newest rows against what was usual before them; key groups that do next to nothing say nothing."""
    logs = _logs(busy_s)
    before, newest = logs[:-WINDOWS], logs[-WINDOWS:]
    variance = _variance(before)
    used = (owner >= 0) & np.isfinite(logs).all(axis=0)
    for row in newest:
        yield Seen(
            executor=owner[used],
            off=row[used] - np.median(before[:, used], axis=0),
            sample_variance=variance[used],
            base_variance=variance[used] / len(before),
        )


def _logs(busy_s: FloatArray) -> FloatArray:
    """Logarithms of key groups' parts of their row; not finite where a group did nothing."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(np.log(busy_s / busy_s.sum(axis=1, keepdims=True)), dtype=np.float64)


def _variance(logs: FloatArray) -> FloatArray:
    """Of one batch, from steps between rows: a change among them counts but once. At least that of all groups."""
    with np.errstate(invalid="ignore"):
        own = (1.4826 * np.median(np.abs(np.diff(logs, axis=0)), axis=0)) ** 2 / 2.0
    finite = own[np.isfinite(own)]
    return np.maximum(own, float(np.median(finite)) if finite.size else 0.0)
