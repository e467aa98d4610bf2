"""Kinds of text in a status, as marks on the models' fields."""

from __future__ import annotations

from typing import Annotated


class TimeText:
    """Marks a point in time as text, RFC 3339."""


Time = Annotated[str, TimeText()]


class ListKey:
    """Marks a list as a map: entries are told apart by this field, so that several writers can own some each."""

    def __init__(self, name: str) -> None:
        self.name = name
