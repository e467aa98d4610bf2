"""What the cycle needs from the world. Adapters implement these; the simulator does too."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Protocol

from streamjob_operator.scaling import registry
from streamjob_operator.scaling.quota import Allowance
from streamjob_operator.scaling.rule import ScalingRule
from streamjob_operator.sight import Sight
from streamjob_operator.values import CycleRecord, Memory, Receipt, Snapshot, Verdict
from streamjob_planners.albic.settings import AlbicSettings
from streamjob_planners.model import Planner


class Trouble(Exception):
    """The world could not be read or written. `code` is a finer reason than the cycle's, where an adapter knows one."""

    def __init__(self, message: str, *, code: str | None = None) -> None:
        super().__init__(message)
        self.code = code


class Unavailable(Trouble):
    """The other side did not answer; nothing is known, so nothing may be changed."""


class Ended(Unavailable):
    """Nothing is to be measured any more: every query of the driver has ended, as those do that took all there was."""


class Stale(Trouble):
    """The other side answered with something too old, or the world has moved on since it was read."""


class Incomplete(Trouble):
    """The other side answered, but parts are missing without which nothing may be changed."""


class Overran(Exception):
    """A planner took so long that its plan would speak of a world that is gone. The text says what became of it."""


class Starting(Exception):
    """A planner cannot be asked yet: what it needs is still being loaded. The text says since when."""


class MetricsSource(Protocol):
    """Where measurements come from: the agent's endpoint, Prometheus, a simulated job, a recording."""

    def observe(self, now_s: float, window_s: float) -> Snapshot:
        """Measurements over the last window_s seconds; raises Unavailable, Stale or Incomplete."""


class Actuator(Protocol):
    """Where decisions go: the agent's endpoint, a PartitionMap, a simulated job, a dry run."""

    def actuate(self, snapshot: Snapshot, verdict: Verdict, memory: Memory) -> Receipt:
        """Carry the verdict out. Looks again first: a world that changed since the snapshot gives a refusal."""


class MemoryStore(Protocol):
    """Where the memory survives a restart."""

    def load(self) -> Memory:
        """The last saved memory, or a new one."""

    def save(self, memory: Memory) -> None:
        """Save atomically: a crash leaves the old or the new memory, never half of one."""


class Reporter(Protocol):
    """Who is told: the live view, the history file, Kubernetes events and conditions, telemetry."""

    def report(self, record: CycleRecord) -> None:
        """Tell; errors here are counted and never change what the cycle does."""


class Planning(Protocol):
    """Where plans are made: in this process, or in others that can be ended when a planner overruns."""

    def planner(self, name: str, settings: AlbicSettings) -> Planner:
        """The planner of that name; its `solve` raises Starting or Overran when there is no plan in time."""


class Quota(Protocol):
    """Executors that this job shares with others."""

    def allow(self, least: int, needed: int, holds: int, *, follows: bool) -> Allowance | None:
        """How many it may have now, see :class:`~streamjob_operator.scaling.quota.Claim`; None where nobody bounds it.

        With `follows` it will have what it needs and may have at once, so that this is nobody else's from now on.
        """


Look = Callable[[], Sight | None]
"""Gives what can be seen of the job without measurements; None where its agent is not heard either."""


Rules = Callable[[str], ScalingRule]
"""Gives the scaling rule of a name."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Ports:
    """The whole world, as far as the cycle can reach it. `rules` gives the scaling rule that the job names, `look` is
    asked where `metrics` fails, `quota` before executors are asked for."""

    metrics: MetricsSource
    actuator: Actuator
    memory: MemoryStore
    reporters: tuple[Reporter, ...] = ()
    planning: Planning | None = None  # None: in this process
    rules: Rules = registry.get
    look: Look = lambda: None
    quota: Quota | None = None
