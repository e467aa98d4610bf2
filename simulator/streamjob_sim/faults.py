"""What goes wrong in a world, and when."""

from __future__ import annotations

import enum

from pydantic import Field, model_validator

from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import Duration


class FaultKind(enum.StrEnum):
    """Kinds of faults."""

    EXECUTOR_DEATH = "ExecutorDeath"
    EXECUTOR_SLOW = "ExecutorSlow"  # a noisy neighbour, a failing disk, a throttled core
    METRICS_UNAVAILABLE = "MetricsUnavailable"
    METRICS_REFUSED = "MetricsRefused"  # the other side says itself that it is stale
    METRICS_FROZEN = "MetricsFrozen"  # the last good answer again and again
    METRICS_GAPS = "MetricsGaps"  # some key groups without any figure
    METRICS_PARTIAL = "MetricsPartial"  # some key groups are missing altogether
    ACTUATOR_UNAVAILABLE = "ActuatorUnavailable"
    CONTROLLER_DOWN = "ControllerDown"
    CONTROLLER_CRASHES = "ControllerCrashes"  # at random points of its cycles


_LASTING = frozenset(FaultKind) - {FaultKind.EXECUTOR_DEATH}
_SHARED = {FaultKind.EXECUTOR_SLOW, FaultKind.METRICS_GAPS, FaultKind.METRICS_PARTIAL, FaultKind.CONTROLLER_CRASHES}
METRICS = frozenset(kind for kind in FaultKind if kind.value.startswith("Metrics"))


class Fault(Part):
    """One fault."""

    kind: FaultKind
    """What goes wrong. Required."""

    at_s: Duration = Field(alias="at", ge=0)
    """When it starts. Duration, required."""

    for_s: Duration | None = Field(default=None, alias="for", gt=0)
    """How long it lasts. Duration, needed by all but ExecutorDeath."""

    executor: str | None = Field(default=None, min_length=1)
    """Id of the executor that dies or is slow. Default: the one with the most key groups dies, the first is slow."""

    share: float | None = Field(default=None, gt=0, le=1)
    """Share of key groups or cycles hit, or of its speed that a slow executor keeps, above 0 to 1. Needed by
    ExecutorSlow, MetricsGaps, MetricsPartial and ControllerCrashes."""

    @model_validator(mode="after")
    def _complete(self) -> Fault:
        for name, given, needing in (("for", self.for_s, _LASTING), ("share", self.share, _SHARED)):
            if (given is not None) != (self.kind in needing):
                raise ValueError(f"{self.kind.value}: '{name}' is {'needed' if given is None else 'not used'} here")
        return self

    def lasts_at(self, at_s: float) -> bool:
        """Whether it lasts at that moment."""
        return self.for_s is not None and self.at_s <= at_s < self.at_s + self.for_s


def lasting(faults: tuple[Fault, ...], kinds: frozenset[FaultKind], at_s: float) -> Fault | None:
    """The first fault of these kinds that lasts at that moment."""
    return next((fault for fault in faults if fault.kind in kinds and fault.lasts_at(at_s)), None)
