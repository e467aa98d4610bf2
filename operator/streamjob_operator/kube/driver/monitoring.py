"""How Prometheus comes to scrape a driver: a PodMonitor, a ServiceMonitor, annotations, or somebody else's way."""

from __future__ import annotations

import dataclasses
import enum
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.children import owned_metadata
from streamjob_operator.kube.api.kinds import POD_MONITORS, SERVICE_MONITORS, Kind
from streamjob_operator.kube.driver import naming

AGENT_PORT, AGENT_PORT_NAME = 7980, "streamjob-agent"
PAGE = "/metrics"
_LONGEST_SCRAPE_S, _SCRAPES_PER_PERIOD = 15.0, 4


class Monitor(enum.StrEnum):
    """Kinds of it."""

    POD_MONITOR = "PodMonitor"
    SERVICE_MONITOR = "ServiceMonitor"
    ANNOTATIONS = "Annotations"
    OFF = "Off"


KINDS: Mapping[Monitor, Kind] = {
    Monitor.POD_MONITOR: POD_MONITORS,
    Monitor.SERVICE_MONITOR: SERVICE_MONITORS,
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Monitoring:
    """The cluster's way, the same for all jobs. `labels` are those by which a Prometheus finds its monitors."""

    monitor: Monitor = Monitor.POD_MONITOR
    labels: tuple[tuple[str, str], ...] = ()


def scrape_annotations(monitoring: Monitoring) -> dict[str, str]:
    """Of the driver's pod: the convention that ordinary relabelling of a Prometheus follows."""
    if monitoring.monitor is not Monitor.ANNOTATIONS:
        return {}
    return {
        "prometheus.io/scrape": "true",
        "prometheus.io/port": str(AGENT_PORT),
        "prometheus.io/path": PAGE,
    }


def monitor(job: Mapping[str, Any], monitoring: Monitoring, period_s: float) -> tuple[Kind, dict[str, Any]] | None:
    """The object for the Prometheus operator, None where there is none: four scrapes or more in a statistics period.

    `job` is the StreamJob as read.
    """
    kind = KINDS.get(monitoring.monitor)
    if kind is None:
        return None
    name = job["metadata"]["name"]
    interval_s = max(1, int(min(_LONGEST_SCRAPE_S, period_s / _SCRAPES_PER_PERIOD)))
    endpoint = {"port": AGENT_PORT_NAME, "path": PAGE, "interval": f"{interval_s}s"}
    labels = {**dict(monitoring.labels), **naming.job_labels(name)}
    pods = kind is POD_MONITORS
    spec = {
        "selector": {"matchLabels": naming.driver_labels(name) if pods else naming.job_labels(name)},
        "podMetricsEndpoints" if pods else "endpoints": [endpoint],
    }
    return kind, {"metadata": owned_metadata(job, naming.driver_name(name), labels), "spec": spec}
