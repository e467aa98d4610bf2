"""What a fault is: it lets a job begin, does harm, and says when the harm was done. `judge` judges, not the fault."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

from e2e.cluster.controlplane import ControlPlane
from e2e.cluster.fault_proxy import FaultProxy
from e2e.cluster.process import Process
from e2e.cluster.prometheus import Prometheus
from e2e.faults.front import Front
from e2e.faults.stage import Stage, draining, settled


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Tools:
    """What cases may break: the API server, the way to it, Prometheus, and what stands in front of that."""

    plane: ControlPlane
    proxy: FaultProxy
    prometheus: Prometheus
    front: Front


Harm = Callable[[Stage, Tools], str]
"""Does the harm while the job is on its way, and tells what it did; what it started is left running."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Case:
    """A fault by its name; `alone` wants a control plane for itself."""

    name: str
    harm: Harm
    alone: bool = False


def acting(stage: Stage) -> dict[str, Any]:
    """Wait until a drain is on its way, or was; the status then."""
    return stage.wait("no drain began", lambda status: draining(status) or settled(status))


def begin(stage: Stage) -> Process:
    """A driver and an operator; the operator's process."""
    stage.driver()
    return stage.operator()
