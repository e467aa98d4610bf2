"""Initial placers by name. A new one is one function and one line here; the suite of its kind then runs it."""

from __future__ import annotations

from typing import cast

from streamjob_planners.by_name import ByName
from streamjob_planners.placement.world import Placer

_PLACERS = ByName(
    word="initialPlacement",
    places={
        "spread": "streamjob_planners.placement.placers:spread",
        "rod": "streamjob_planners.placement.placers:resilient",
        "cor-glb": "streamjob_planners.placement.placers:by_correlation",
    },
)

DEFAULT = "spread"


def names() -> tuple[str, ...]:
    """Every initial placer there is, in alphabetical order."""
    return _PLACERS.names()


def get(name: str) -> Placer:
    """The placer of that name. Raises ValueError with the names that exist."""
    return cast(Placer, _PLACERS.load(name))
