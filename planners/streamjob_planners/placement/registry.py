"""Initial placers by name. A new one is one function and one line here; the suite of its kind then runs it."""

from __future__ import annotations

from streamjob_planners.placement.placers import by_correlation, resilient, spread
from streamjob_planners.placement.world import Placer

_PLACERS: dict[str, Placer] = {"spread": spread, "rod": resilient, "cor-glb": by_correlation}

DEFAULT = "spread"


def names() -> tuple[str, ...]:
    """Every initial placer there is, in alphabetical order."""
    return tuple(sorted(_PLACERS))


def get(name: str) -> Placer:
    """The placer of that name. Raises ValueError with the names that exist."""
    if name not in _PLACERS:
        raise ValueError(f"initialPlacement: there is no '{name}'; choose one of {', '.join(names())}")
    return _PLACERS[name]
