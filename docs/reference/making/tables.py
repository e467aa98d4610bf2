"""Markdown tables."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

NOTICE = "Made by `make reference` from the code; do not edit.\n"


def table(head: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """A table; cells may hold any text of one line."""
    lines = [_line(head), _line(["---"] * len(head)), *(_line([cell(one) for one in row]) for row in rows)]
    return "".join(lines)


def cell(text: str) -> str:
    """Text that does not break a table."""
    return text.replace("|", "\\|")


def plain(text: str) -> str:
    """Text in which brackets and stars are themselves: a pattern in a sentence looks like a link, or leans."""
    return re.sub(r"([\[\]*])", r"\\\1", text)


def code(text: str) -> str:
    """Code, or nothing for nothing."""
    return f"`{text}`" if text else ""


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |\n"
