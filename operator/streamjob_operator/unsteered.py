"""Text of others as it may stand on a terminal, a page or in a log. Pure."""

from __future__ import annotations

import unicodedata

_STEERING = ("Cc", "Cf")
"""Of Unicode: control characters, and those that turn the direction of what follows."""


def one_line(text: str) -> str:
    """The same on one line, in which every space of any kind is one of ours: for sentences, which logs show, too."""
    return unsteered(" ".join(text.split()))


def first_bytes(text: str, most: int) -> str:
    """As much of its beginning as has at most so many bytes in UTF-8, whole characters."""
    return text.encode(errors="replace")[:most].decode(errors="ignore")


def last_bytes(text: str, most: int) -> str:
    """The same of its end; `most` is above 0."""
    return text.encode(errors="replace")[-most:].decode(errors="ignore")


def unsteered(text: str) -> str:
    """The text with a mark for each character that would steer whoever shows it; new lines stay."""
    if text.isprintable():
        return text
    return "".join("\ufffd" if unicodedata.category(one) in _STEERING and one != "\n" else one for one in text)
