"""What each query has to say of its lines, in plain Python: rows as JSON has them, in order."""

from __future__ import annotations

import collections
from collections.abc import Callable, Iterable, Mapping, Sequence

from e2e.compatibility.lines import Line

Row = list[str | int | None]
Answer = Callable[[Sequence[Line]], list[Row]]
SESSION_S, JOIN_S = 15, 10
"""The pause that ends a session; how much later than a left line a right one may be."""


def counts(lines: Sequence[Line]) -> list[Row]:
    """Key, number of its lines, their sum."""
    return in_order([key, len(found), sum(one.value for one in found)] for key, found in _by_key(lines).items())


def odd(lines: Sequence[Line]) -> list[Row]:
    """Lines of odd values."""
    return in_order([one.key, one.value] for one in lines if one.value % 2)


def once(lines: Sequence[Line]) -> list[Row]:
    """Each line once."""
    return in_order([one.key, one.value] for one in set(lines))


def sessions(lines: Sequence[Line]) -> list[Row]:
    """Key, beginning, end and lines of each session; sessions that touch are one, as in Spark."""
    found: list[Row] = []
    for key, of_key in _by_key(lines).items():
        times = sorted(one.at_s for one in of_key)
        ends = [i for i in range(1, len(times)) if times[i] - times[i - 1] > SESSION_S]
        for begin, end in zip([0, *ends], [*ends, len(times)], strict=True):
            found.append([key, times[begin], times[end - 1] + SESSION_S, end - begin])
    return in_order(found)


def inner(lines: Sequence[Line]) -> list[Row]:
    """Pairs of a line of even and one of odd value, of one key, the latter not earlier and at most JOIN_S later."""
    return in_order([key, left.value, right.value] for key, left, right in _pairs(lines) if right is not None)


def outer(lines: Sequence[Line]) -> list[Row]:
    """The same, and lines of even value that have no other."""
    return in_order([key, left.value, right.value if right else None] for key, left, right in _pairs(lines))


def timers(lines: Sequence[Line]) -> list[Row]:
    """Key, number of its lines, their sum, the number of different values, and that one timer fired for it."""
    return in_order(
        [key, len(found), sum(one.value for one in found), len({one.value for one in found}), 1]
        for key, found in _by_key(lines).items()
    )


def in_order(rows: Iterable[Row]) -> list[Row]:
    """Rows in one order, None before all else."""
    return sorted(rows, key=lambda row: [(one is not None, str(one)) for one in row])


def _by_key(lines: Sequence[Line]) -> Mapping[str, list[Line]]:
    found: dict[str, list[Line]] = collections.defaultdict(list)
    for one in lines:
        found[one.key].append(one)
    return found


def _pairs(lines: Sequence[Line]) -> Iterable[tuple[str, Line, Line | None]]:
    for key, found in _by_key(lines).items():
        right = [one for one in found if one.value % 2]
        for left in (one for one in found if one.value % 2 == 0):
            matched = [one for one in right if left.at_s <= one.at_s <= left.at_s + JOIN_S]
            yield from ((key, left, one) for one in matched)
            if not matched:
                yield key, left, None
