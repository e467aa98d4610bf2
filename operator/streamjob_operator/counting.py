"""How many there are, in words that fit one as well as several."""

from __future__ import annotations


def executors(count: int, one: str = "", several: str = "") -> str:
    """`1 executor` or `3 executors`, and the verb that fits: `executors(1, "is", "are")` is `1 executor is`."""
    return _counted("executor", "executors", count, one, several)


def moves_told(count: int, one: str = "", several: str = "") -> str:
    """The same of moves: `1 move` or `3 moves`."""
    return _counted("move", "moves", count, one, several)


def odd_batches(count: int) -> str:
    """The same of odd batches: `1 odd batch` or `2 odd batches`."""
    return _counted("odd batch", "odd batches", count, "", "")


def _counted(what: str, more: str, count: int, one: str, several: str) -> str:
    words = (f"1 {what}", one) if count == 1 else (f"{count} {more}", several)
    return " ".join(filter(None, words))
