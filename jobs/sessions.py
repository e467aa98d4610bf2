"""Spark's session windows in append mode, in plain Python."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator, Sequence
from typing import Generic, TypeVar

from jobs.job import Row, Taken
from jobs.watermarks import Mark

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Session = tuple[int, int, list[Value]]
"""Start and end, ms, and what came in it."""


class Sessions(Generic[Key, Value]):
    """The open sessions of each key."""

    def __init__(self) -> None:
        self._open: dict[Key, list[Session[Value]]] = {}

    def take(self, mark: Mark, rows: Iterable[tuple[Key, int, int, Value]]) -> Iterator[tuple[Key, Session[Value]]]:
        """A batch of (key, time, gap, value), ms; gives the sessions that close in it.

        A row is a session until its time and gap. What overlaps becomes one, unless it had ended before the watermark.
        """
        for key, at_ms, gap_ms, value in rows:
            if at_ms + gap_ms > mark.late_ms:
                self._open.setdefault(key, []).append((at_ms, at_ms + gap_ms, [value]))
        for key, some in self._open.items():
            merged = _merged(some)
            self._open[key] = [one for one in merged if one[1] > mark.now_ms]
            yield from ((key, one) for one in merged if one[1] <= mark.now_ms)


def ended(
    taken: Sequence[Taken],
    when: Sequence[Mark],
    stream: str,
    keyed: Callable[[Row], tuple[Key, int, int, Value]],
) -> Iterator[list[tuple[Key, Session[Value]]]]:
    """For each batch the sessions that close in it; `keyed` gives a row's (key, time, gap, value), ms."""
    sessions: Sessions[Key, Value] = Sessions()
    for mark, batch in zip(when, taken, strict=True):
        yield list(sessions.take(mark, map(keyed, batch.rows.get(stream, ()))))


def _merged(sessions: list[Session[Value]]) -> list[Session[Value]]:
    """Sessions that touch each other as one: an end at the next one's start counts as touching."""
    merged: list[Session[Value]] = []
    for start, end, values in sorted(sessions, key=lambda one: one[0]):
        if merged and start <= merged[-1][1]:
            first, last, before = merged[-1]
            before += values  # in place: a session that never ends gets long, and is merged with each row of a batch
            merged[-1] = (first, max(last, end), before)
        else:
            merged.append((start, end, values))
    return merged
