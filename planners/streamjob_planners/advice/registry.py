"""Advisers by name: what finds the operators to key alike. A new one is one function and one line here."""

from __future__ import annotations

from collections.abc import Callable
from typing import cast

from streamjob_planners.by_name import ByName
from streamjob_planners.components.graph import Members, OperatorGraph

Adviser = Callable[[OperatorGraph], list[Members]]
"""Components of a graph: every operator in one of them. Same graph, same components. What moving state costs plays no
part, see :mod:`streamjob_planners.advice.advise`."""


_ADVISERS = ByName(
    word="adviser",
    places={
        "mwsc": "streamjob_planners.components.advisers:by_cover",
        "greedy": "streamjob_planners.components.advisers:by_moves",
    },
)

DEFAULT = "mwsc"


def names() -> tuple[str, ...]:
    """Every adviser there is, in alphabetical order."""
    return _ADVISERS.names()


def get(name: str) -> Adviser:
    """The adviser of that name. Raises ValueError with the names that exist."""
    return cast(Adviser, _ADVISERS.load(name))
