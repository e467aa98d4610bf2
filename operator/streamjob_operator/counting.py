"""How many there are, in words that fit one as well as several."""

from __future__ import annotations


def executors(count: int, one: str = "", several: str = "") -> str:
    """`1 executor` or `3 executors`, and the verb that fits: `executors(1, "is", "are")` is `1 executor is`."""
    words = ("1 executor", one) if count == 1 else (f"{count} executors", several)
    return " ".join(filter(None, words))
