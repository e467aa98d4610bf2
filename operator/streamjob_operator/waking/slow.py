"""Executors that became slow, seen in the two newest batches of a series. Pure.

The same comparison as that of whole windows (`streamjob_planners.capacity.pace`): an executor is slow where all its key
groups take longer by one factor and those of others do not, twice on end.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from streamjob_operator.events import Event, EventKind
from streamjob_operator.waking.rows import Rows
from streamjob_planners.capacity import pace
from streamjob_planners.capacity.pace import LEAST_FACTOR, WINDOWS, Pace, Seen
from streamjob_planners.model import FloatArray

LEAST_BEFORE = 6
"""Batches that say what key groups usually take."""


def slow_executors(rows: Rows) -> dict[str, float]:
    """By how much the tasks of each slow executor take longer than they did before the two newest rows."""
    names = tuple(sorted({one for one in rows.owners if one is not None}))
    if len(names) < 2 or rows.series.ended_at_s.size < LEAST_BEFORE + WINDOWS:
        return {}
    paces: Mapping[str, Pace] = {}
    for seen in _windows(rows, names):
        paces = pace.with_window(paces, names, seen).by_executor
    return {name: 1.0 / one.speed for name, one in paces.items() if one.speed * LEAST_FACTOR <= 1.0}


def slow_events(known: Mapping[str, float], found: Mapping[str, float]) -> Iterator[Event]:
    """One for each slow executor that was not known as that."""
    for name in sorted(found.keys() - known.keys()):
        sentence = f"Executor {name} is slow: its key groups take {found[name]:.2g} times as long as they did."
        yield Event(kind=EventKind.EXECUTOR_SLOW, sentence=sentence)


def _windows(rows: Rows, names: tuple[str, ...]) -> Iterator[Seen]:
    """The newest rows against what was usual before them; key groups that do next to nothing say nothing."""
    of = {name: at for at, name in enumerate(names)}
    owner = np.array([-1 if one is None else of[one] for one in rows.owners], dtype=np.int64)
    logs = _logs(rows.series.busy_s)
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
