"""The words that every entry of every registry has."""

from __future__ import annotations

import dataclasses


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Description:
    """One entry: what it does, when to choose it, what it takes, and where it comes from."""

    what: str
    choose_when: str
    cost: str
    source: str
