"""A metrics page line by line: Prometheus text format, of which the series of a contract are kept.

Format: https://prometheus.io/docs/instrumenting/exposition_formats/. Whoever made the agent decides how large a page
is, so it is never in memory a second time: not as text, as lines or as samples.
"""

from __future__ import annotations

import dataclasses
import io
import re
from collections import Counter
from collections.abc import Mapping

Labels = tuple[str, ...]
MOST_VALUE = 1e18
"""Of a series: a thousandfold of what the largest job counts in bytes or nanoseconds. Squares of more are none."""
MOST_LINES = 2_000_000
"""Ten for each of 200,000 key groups. A page of lines that say nothing could have eight times as many."""
MOST_LINE_BYTES = 64 * 1024
_SAMPLE = re.compile(
    rb"([a-zA-Z_:][a-zA-Z0-9_:]*)(?:[ \t]*\{(.*)\}[ \t]*|[ \t]+)([^ \t\r\n{}_]+)(?:[ \t]+-?[0-9]+)?[ \t\r]*\n?"
)
"""Name, labels, value; a time after it counts for nothing. Python would take a number with underscores in it."""
_LABEL = re.compile(rb'[ \t]*([a-zA-Z_][a-zA-Z0-9_]*)[ \t]*=[ \t]*"([^"\\]*(?:\\.[^"\\]*)*)"[ \t]*(?:,[ \t]*|$)')
_ESCAPED = re.compile(rb'\\([\\n"])')
_MEANT = {b"\\": b"\\", b"n": b"\n", b'"': b'"'}


class TooManyLines(ValueError):
    """A page has more than MOST_LINES lines."""


def series_of(page: bytes, contract: Mapping[str, Labels]) -> dict[str, dict[Labels, float]]:
    """Name -> label values in the contract's order -> value; `contract` is name -> labels in that order.

    Series of other names are left out, their labels unread. Raises ValueError where a line is none, KeyError where a
    series lacks one of its labels.
    """
    if page.count(b"\n") > MOST_LINES:
        raise TooManyLines
    reader = _Reader(contract)
    for line in io.BytesIO(page):  # which does not copy it
        if not line.startswith(b"#"):
            reader.take(line)
    return reader.series


def finite(value: float | str | bytes) -> float:
    """A value of a series; raises ValueError for NaN and what is too large, of which no load is made."""
    number = float(value)
    if not abs(number) <= MOST_VALUE:  # NaN, too
        raise ValueError(f"{value!r} is no number")
    return number


@dataclasses.dataclass(frozen=True, slots=True)
class _Kind:
    """Series of one name: its labels in order, its values so far, and label texts that other names have, too."""

    order: tuple[bytes, ...]
    values: dict[Labels, float]
    known: dict[bytes, Labels] | None


class _Reader:
    """Takes lines in. A label's value that occurs again, and all labels of a key group, are kept once."""

    def __init__(self, contract: Mapping[str, Labels]) -> None:
        self.series: dict[str, dict[Labels, float]] = {}
        self._contract = {name.encode(): (name, order) for name, order in contract.items()}
        names = Counter(contract.values())
        self._known: dict[Labels, dict[bytes, Labels] | None] = {
            order: {} if count > 1 else None for order, count in names.items()
        }
        self._kinds: dict[bytes, _Kind] = {}
        self._words: dict[bytes, str] = {}

    def take(self, line: bytes) -> None:
        """One line that is no comment."""
        found = _SAMPLE.fullmatch(line) if len(line) <= MOST_LINE_BYTES else None
        if found is None:
            if line.isspace():
                return
            raise ValueError("a line is none")
        name, text, value = found.groups()
        if name not in self._contract:
            return
        kind = self._kinds.get(name) or self._kind(name)
        labels = None if kind.known is None else kind.known.get(text)
        if labels is None:
            labels = self._labels(kind, text or b"")
        kind.values[labels] = finite(value)

    def _kind(self, name: bytes) -> _Kind:
        text, order = self._contract[name]
        values = self.series.setdefault(text, {})
        self._kinds[name] = kind = _Kind(tuple(label.encode() for label in order), values, self._known[order])
        return kind

    def _labels(self, kind: _Kind, text: bytes) -> Labels:
        values = _values(text)
        labels = tuple([self._word(values[label]) for label in kind.order])
        if kind.known is not None:
            kind.known[text] = labels
        return labels

    def _word(self, value: bytes) -> str:
        word = self._words.get(value)
        if word is None:
            meant = _ESCAPED.sub(lambda one: _MEANT[one[1]], value)
            self._words[value] = word = meant.decode("utf-8", errors="replace")
        return word


def _values(text: bytes) -> dict[bytes, bytes]:
    """Labels as they are written."""
    found: dict[bytes, bytes] = {}
    at = 0
    while at < len(text):
        label = _LABEL.match(text, at)
        if label is None or label[1] in found:
            raise ValueError("labels are none")
        found[label[1]] = label[2]
        at = label.end()
    return found
