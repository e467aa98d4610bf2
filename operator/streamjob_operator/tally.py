"""How many there are of each, kept up one by one."""

from __future__ import annotations

from collections import Counter


def one_less(tally: Counter[str], key: str) -> None:
    """One less of it; of what there is none is not there."""
    tally[key] -= 1
    if not tally[key]:
        del tally[key]
