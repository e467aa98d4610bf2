"""What a field of a message may hold, and how much a message may be: a small one must not fill the reader's memory."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

MOST_GROUPS = 200_000
"""Key groups of one query, all of its operators together."""
MOST_EXECUTORS = 10_000
MOST_CORES = 10_000
"""Task slots of one executor: settings may say more than there are processors, where tasks wait."""
MOST_OPERATORS = 1_000
"""Stateful operators of one query; Spark numbers them from 0."""
_MOST_TEXT = 256  # characters of an id
_MOST_ELEMENTS = 4 * MOST_GROUPS + 3 * MOST_EXECUTORS  # four things of every group, and what names executors
_MOST_CONTAINERS = 64
_MOST_WHOLE = 2**63 - 1
_MOST_SECONDS = 10.0**9


class WireError(ValueError):
    """A message that cannot be read: the sentence names the field, the value and what is allowed."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """Types that a field may have, in words, and the largest number or length."""

    types: tuple[type, ...]
    words: str
    most: float = _MOST_WHOLE

    def or_null(self) -> Kind:
        """The same, or nothing."""
        return dataclasses.replace(self, types=(*self.types, type(None)), words=f"{self.words}, or null")

    def complaint(self, value: Any) -> str | None:
        """What is wrong with a value, None when nothing is."""
        negative = isinstance(value, (int, float)) and not value >= 0  # NaN, too
        if not isinstance(value, self.types) or isinstance(value, bool) or negative:
            return f"{shown(value)} given, {self.words} is needed"
        if isinstance(value, (str, list, dict)):
            unit = "characters" if isinstance(value, str) else "entries"
            return f"{len(value)} {unit} given, {self.most} are the most" if len(value) > self.most else None
        too_many = isinstance(value, (int, float)) and value > self.most
        return f"{shown(value)} given, {self.most:g} is the most" if too_many else None


WHOLE = Kind(types=(int,), words="a whole number of 0 or more")
CORES = dataclasses.replace(WHOLE, most=MOST_CORES)
EXECUTORS = dataclasses.replace(WHOLE, most=MOST_EXECUTORS)
SECONDS = Kind(types=(int, float), words="a number of seconds of 0 or more", most=_MOST_SECONDS)
TEXT = Kind(types=(str,), words="text", most=_MOST_TEXT)
SENTENCE = Kind(types=(str,), words="text")
LIST = Kind(types=(list,), words="a list", most=MOST_GROUPS)
OBJECT = Kind(types=(dict,), words="an object", most=MOST_GROUPS)
EXECUTOR_IDS = dataclasses.replace(LIST, most=MOST_EXECUTORS)


def expect(fields: Mapping[str, Any], kinds: Mapping[str, Kind], where: str = "") -> None:
    """Raise WireError unless every field that is there has its kind."""
    for name, kind in kinds.items():
        complaint = kind.complaint(fields[name]) if name in fields else None
        if complaint is not None:
            raise WireError(f"{where}{name[:80]}: {complaint}")


def bound(text: str | bytes) -> None:
    """Raise WireError when an assignment's JSON has more parts than any real one, before they are made."""
    body = text.encode(errors="replace") if isinstance(text, str) else text
    containers = body.count(b"{") + body.count(b"[")
    limits = ((body.count(b","), _MOST_ELEMENTS, "elements"), (containers, _MOST_CONTAINERS, "lists and objects"))
    for found, most, what in limits:
        if found > most:
            raise WireError(f"the message has {found} {what}, {most} are the most")


def shown(value: Any) -> str:
    """A value as it may stand in a sentence: short, whatever it is."""
    try:
        return repr(str(value)[:80])
    except ValueError:  # Python does not write out whole numbers of thousands of digits
        return "a very large number"
