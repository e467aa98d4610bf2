"""Every kind of system that can be chosen by name: its registry, its default, its words, and where it is chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping

from streamjob_planners import registry
from streamjob_planners.advice import registry as advisers
from streamjob_planners.capacity import registry as estimators
from streamjob_planners.catalogue.advisers import ADVISERS
from streamjob_planners.catalogue.description import Description
from streamjob_planners.catalogue.estimators import ESTIMATORS
from streamjob_planners.catalogue.placers import PLACERS
from streamjob_planners.catalogue.planners import PLANNERS
from streamjob_planners.placement import registry as placers


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind.

    Attributes:
        name: the word for one of them.
        purpose: what they are for, one sentence.
        chosen_by: field of a StreamJob or option of a command.
        default: the one that holds when nobody chooses.
        names: every one there is, in alphabetical order.
        described: their words, by name.
    """

    name: str
    purpose: str
    chosen_by: str
    default: str
    names: Callable[[], tuple[str, ...]]
    described: Mapping[str, Description]


KINDS = (
    Kind(
        name="planner",
        purpose="Decides which key groups move between executors, each cycle.",
        chosen_by="spec.balancing.planner",
        default=registry.DEFAULT,
        names=registry.names,
        described=PLANNERS,
    ),
    Kind(
        name="initial placer",
        purpose="Decides where key groups are when a driver starts again.",
        chosen_by="spec.balancing.initialPlacement",
        default=placers.DEFAULT,
        names=placers.names,
        described=PLACERS,
    ),
    Kind(
        name="adviser",
        purpose="Says which operators of a query to key alike.",
        chosen_by="streamjob advise --adviser",
        default=advisers.DEFAULT,
        names=advisers.names,
        described=ADVISERS,
    ),
    Kind(
        name="capacity estimator",
        purpose="Learns how fast each executor is.",
        chosen_by="nothing: the controller always uses the default",
        default=estimators.DEFAULT,
        names=estimators.names,
        described=ESTIMATORS,
    ),
)
