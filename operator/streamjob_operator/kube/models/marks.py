"""Kinds of text in a status, as marks on the models' fields."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator

from streamjob_operator.kube.api.times import seconds


class TimeText:
    """Marks a point in time as text, RFC 3339."""


def _readable(text: str) -> str:
    """The API server takes times that nobody can read, such as one of the year 0."""
    seconds(text)
    return text


Time = Annotated[str, TimeText(), AfterValidator(_readable)]


class ListKey:
    """Marks a list as a map: entries are told apart by this field, so that several writers can own some each."""

    def __init__(self, name: str) -> None:
        self.name = name
