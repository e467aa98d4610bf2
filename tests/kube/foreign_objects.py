"""Driver pods as Spark and other operators make them, and the kinds of those operators."""

from __future__ import annotations

from typing import Any

from e2e.cluster.kubectl import ESTABLISHED
from e2e.simulated.pods import idle_pod
from e2e.simulated.spark_applications import SparkApplications
from kubectl import Kubectl


def install(kubectl: Kubectl, kind: SparkApplications) -> str:
    """Make the kind known; its CRD's name."""
    kubectl.apply(kind.crd())
    kubectl("wait", ESTABLISHED, "--timeout=30s", "crd", kind.crd_name)
    return kind.crd_name


def driver_pod(name: str, account: str = "default", **labels: str) -> dict[str, Any]:
    """Labels that Spark itself gives a driver, and those of its operator."""
    return idle_pod(name, {"spark-role": "driver", "spark-app-selector": "spark-1", **labels}, "spark", account)
