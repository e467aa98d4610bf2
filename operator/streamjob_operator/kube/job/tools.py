"""What the keepers of all StreamJobs share."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from typing import Protocol

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.job.drivers import Drivers
from streamjob_operator.kube.job.quotas import Quotas
from streamjob_operator.kube.metrics.sources import Shared
from streamjob_operator.kube.report.events import Events
from streamjob_operator.planning_queue import Asks
from streamjob_operator.ports import Planning, Reporter
from streamjob_operator.spec import StreamJob


def _no_reporters(_namespace: str, _job: StreamJob) -> tuple[Reporter, ...]:
    return ()


def _nothing(_namespace: str, _name: str) -> None:
    """Nobody needs to forget the job."""


class PlanningOf(Protocol):
    """Planning as a job of one namespace has it."""

    def __call__(self, namespace: str, *, asked: Asks) -> Planning:
        """What a person has `asked` for, by the moment when a process is free, comes before the namespace's other
        plans."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """Thread-safe, all of them.

    `reporters(namespace, job)` gives further reporters of a job's cycles; `forget` hears when a StreamJob is gone, or
    suspended. `planning` makes plans for a namespace's jobs; without it they are made in the turn's own thread.
    `shared` bounds what measurements of all jobs take, `quotas` the executors of namespaces that have one.
    """

    api: KubeApi
    drivers: Drivers
    events: Events
    reporters: Callable[[str, StreamJob], tuple[Reporter, ...]] = _no_reporters
    forget: Callable[[str, str], None] = _nothing
    planning: PlanningOf | None = None
    shared: Shared = dataclasses.field(default_factory=Shared)
    quotas: Quotas | None = None
    clock: Callable[[], float] = time.time
