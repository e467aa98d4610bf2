"""When a driver that has ended is started again, and when not any more."""

from __future__ import annotations

import enum

from pydantic import Field, model_validator

from streamjob_operator.doubling import doubled_s
from streamjob_operator.spec.base import Part
from streamjob_operator.spec.quantities import Duration, format_duration
from streamjob_operator.spec.rules import Rule, seconds, told

_ORDERED = "initial must not be longer than max"


class RestartPolicy(enum.StrEnum):
    """When an ended driver is started again."""

    NEVER = "Never"
    ON_FAILURE = "OnFailure"
    ALWAYS = "Always"


class Backoff(Part):
    """Waiting time between restarts: doubled from `initial` up to `max`."""

    RULES = (
        Rule(
            f"!has(self.initial) || !has(self.max) || {seconds('self.initial')} <= {seconds('self.max')}",
            _ORDERED,
            ".initial",
            told(f"initial is %s and max is %s; {_ORDERED}", "self.initial", "self.max"),
        ),
    )

    initial_s: Duration = Field(default=10.0, alias="initial", ge=0.1, le=3600)
    """Wait before the first restart. Duration, default 10s, range 100ms to 1h."""

    max_s: Duration = Field(default=300.0, alias="max", ge=0.1, le=86400)
    """Longest wait between restarts. Duration, default 5m, range 100ms to 1d."""

    @model_validator(mode="after")
    def _ordered(self) -> Backoff:
        if self.initial_s > self.max_s:
            initial, longest = format_duration(self.initial_s), format_duration(self.max_s)
            raise ValueError(f"initial is {initial} and max is {longest}; {_ORDERED}")
        return self

    def wait_s(self, before: int) -> float:
        """The wait after an end that as many in a row came before."""
        return doubled_s(self.initial_s, before, self.max_s)


class Restart(Part):
    """What happens when the driver ends."""

    policy: RestartPolicy | None = None
    """When to start a driver again that has ended by itself: Never, OnFailure or Always. One whose pod was evicted,
    drained or deleted is always started again. Default: Always on Kubernetes, Never standalone."""

    backoff: Backoff = Backoff()
    """Waiting time between restarts: doubled from initial up to max, and back at initial once a driver has run for
    longer than max."""

    max_restarts: int | None = Field(default=None, ge=0, le=1_000_000)
    """Most restarts in a row of a driver that ended by itself, without a run longer than backoff.max between them; then
    it stays ended. Evictions, drains and deletions do not count. Default: no limit; range 0 to 1000000."""

    start_deadline_s: Duration | None = Field(default=None, alias="startDeadline", ge=1, le=86400)
    """Longest time from a driver's pod to its agent's first answer, waiting for a node included; then the pod is
    stopped, and counts as a driver that failed. Duration, default: no limit; range 1s to 1d. On Kubernetes only."""
