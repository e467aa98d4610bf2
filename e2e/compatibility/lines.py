"""The input of every row: files of `key,value,seconds` lines, the same for the same number of a file."""

from __future__ import annotations

import dataclasses
import random
from collections.abc import Iterable

START_S = 1_700_000_000
FILE_S = 10
"""Event time of one file: the next one begins when it is over, so that no line is ever late."""
KEYS, LINES = 40, 60
SCHEMA = "k string, v long, t long"


@dataclasses.dataclass(frozen=True, slots=True, order=True)
class Line:
    """One line; `at_s` is its event time."""

    key: str
    value: int
    at_s: int


CLOSING_KEY, CLOSING_S = "end", START_S + 10_000_000
CLOSING = (Line(CLOSING_KEY, 0, CLOSING_S), Line(CLOSING_KEY, 1, CLOSING_S))
"""So late that every window, session and timer before them ends, on both sides of a join. They belong to no answer."""


def lines(number: int) -> tuple[Line, ...]:
    """A file's lines, each twice. Half of the keys have none for three files in a row, so that their sessions end."""
    chance = random.Random(number)
    present = [key for key in range(KEYS) if (number // 3 + key) % 2 == 0]
    once = [
        Line(f"k{chance.choice(present)}", 1000 * number + i, START_S + FILE_S * number + i % FILE_S)
        for i in range(LINES)
    ]
    return (*once, *once)


def text(given: Iterable[Line]) -> str:
    """As in a file."""
    return "".join(f"{one.key},{one.value},{one.at_s}\n" for one in given)
