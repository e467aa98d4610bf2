"""Capacity estimators by name. A new one is one class and one line here; the suite of its kind then runs it."""

from __future__ import annotations

from typing import cast

from streamjob_planners.by_name import ByName
from streamjob_planners.capacity.window import Estimator

_ESTIMATORS = ByName(
    word="capacity estimator",
    places={
        "even": "streamjob_planners.capacity.estimators:Even",
        "own-groups": "streamjob_planners.capacity.own_groups:OwnGroups",
        "shared-groups": "streamjob_planners.capacity.estimators:SharedGroups",
        "blocking-rate": "streamjob_planners.capacity.estimators:BlockingRate",
    },
)

DEFAULT = "own-groups"


def names() -> tuple[str, ...]:
    """Every capacity estimator there is, in alphabetical order."""
    return _ESTIMATORS.names()


def get(name: str) -> Estimator:
    """A new estimator of that name. Raises ValueError with the names that exist."""
    return cast(Estimator, _ESTIMATORS.load(name)())
