"""Spark's event-time rules in plain Python: what is late, what is closed, and in which batch."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from jobs.job import Row, Rows, Taken

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Times = Callable[[Taken], Iterable[int]]


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """The watermark of a batch, ms. State that ends at or before `now_ms` leaves in it; input that ends at or before
    `late_ms`, which was the watermark of the batch before, is dropped."""

    late_ms: int
    now_ms: int

    def minus(self, delay_ms: int) -> Mark:
        """The watermark behind an operator that holds rows back for `delay_ms`; 0 is the lowest."""
        return Mark(late_ms=max(0, self.late_ms - delay_ms), now_ms=max(0, self.now_ms - delay_ms))


def marks(taken: Sequence[Taken], *clocks: tuple[Times, int]) -> list[Mark]:
    """The watermark of each batch, (n_batches,), of a query whose `clocks` are event times and their delays, ms.

    A batch has the watermark that all rows before it gave; that of several streams is the one furthest behind. A query
    that is started again keeps it, but has forgotten how far each stream was: until all of them have brought rows
    again, it may stay further behind than the rows say. There Spark's word counts, and never for a later one.
    """
    newest, found = [0] * len(clocks), list[Mark]()
    late_ms = 0
    for one in taken:
        now_ms = max(late_ms, min(newest))
        if len(clocks) > 1 and one.watermark_ms is not None:
            now_ms = max(late_ms, min(now_ms, one.watermark_ms))
        found.append(Mark(late_ms=late_ms, now_ms=now_ms))
        newest = [
            max(reached, *(at - delay_ms for at in times(one)), 0)
            for reached, (times, delay_ms) in zip(newest, clocks, strict=True)
        ]
        late_ms = now_ms
    return found


def column(stream: str, name: str = "at_ms") -> Times:
    """The event times of a stream."""
    return lambda taken: [row[name] for row in taken.rows.get(stream, ())]


def windows(at_ms: int, size_ms: int, slide_ms: int | None = None) -> list[int]:
    """The ends of all windows that an event falls into."""
    slide_ms = slide_ms or size_ms
    first = at_ms - at_ms % slide_ms + slide_ms
    return [end for end in range(first, first + size_ms, slide_ms) if end - size_ms <= at_ms < end]


def windowed(
    taken: Sequence[Taken],
    when: Sequence[Mark],
    stream: str,
    size_ms: int,
    keyed: Callable[[Row], Iterable[tuple[Key, Value]]],
    slide_ms: int | None = None,
) -> Iterator[tuple[Mark, list[tuple[int, Key, Value]]]]:
    """The arrivals that `closed` wants, from a stream: `keyed` gives the (key, value) pairs of a row, one as a rule,
    and each of them counts in every window that the row falls into."""
    for mark, batch in zip(when, taken, strict=True):
        yield (
            mark,
            [
                (end, key, value)
                for row in batch.rows.get(stream, ())
                for end in windows(row["at_ms"], size_ms, slide_ms)
                for key, value in keyed(row)
            ],
        )


def closed(
    arrivals: Iterable[tuple[Mark, Iterable[tuple[int, Key, Value]]]], combine: Callable[[Value, Value], Value]
) -> Iterator[list[tuple[int, Key, Value]]]:
    """A windowed aggregation in append mode: for each batch the windows that close in it, as (end, key, value).

    `arrivals` has (end of its window, key, value) of each row of each batch. `combine` may change its first value where
    each row has one of its own: lists that are copied for each row take the square of a window's rows.
    """
    state: dict[tuple[int, Key], Value] = {}
    for mark, rows in arrivals:
        for end, key, value in rows:
            if end > mark.late_ms:
                state[end, key] = combine(state[end, key], value) if (end, key) in state else value
        done = [place for place in state if place[0] <= mark.now_ms]
        yield [(end, key, state.pop((end, key))) for end, key in done]


def changed(
    arrivals: Iterable[Iterable[tuple[Key, Value]]], combine: Callable[[Value, Value], Value]
) -> Iterator[Mapping[Key, Value]]:
    """An aggregation without end in update mode: for each batch the keys that came in it, with their new value."""
    state: dict[Key, Value] = {}
    for rows in arrivals:
        touched = set()
        for key, value in rows:
            state[key] = combine(state[key], value) if key in state else value
            touched.add(key)
        yield {key: state[key] for key in touched}


def add_pairs(one: tuple[int, int], other: tuple[int, int]) -> tuple[int, int]:
    """Two sums side by side."""
    return one[0] + other[0], one[1] + other[1]


def as_rows(batches: Iterable[Iterable[tuple[object, ...]]], *names: str) -> list[Rows]:
    """Tuples of each batch as rows with these names."""
    return [[dict(zip(names, one, strict=True)) for one in batch] for batch in batches]
