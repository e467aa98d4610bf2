"""Driver pods as Spark and other operators make them, and the kinds of those operators.

The kinds are cut down to what StreamJob reads, field names and types as their projects publish them.
"""

from __future__ import annotations

from typing import Any

from e2e.simulated.pods import idle_pod
from kubectl import Kubectl

TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
WHOLE = {"type": "integer"}
KUBEFLOW = {
    "sparkConf": TEXTS,
    "type": {"type": "string"},
    "mainApplicationFile": {"type": "string"},
    "driver": {"type": "object", "properties": {"serviceAccount": {"type": "string"}}},
    "executor": {"type": "object", "properties": {"instances": WHOLE}},
    "dynamicAllocation": {
        "type": "object",
        "properties": {"enabled": {"type": "boolean"}, "minExecutors": WHOLE, "maxExecutors": WHOLE},
    },
}
INSTANCES = {"initExecutors": WHOLE, "minExecutors": WHOLE, "maxExecutors": WHOLE}
APACHE = {
    "sparkConf": TEXTS,
    "pyFiles": {"type": "string"},
    "applicationTolerations": {
        "type": "object",
        "properties": {"instanceConfig": {"type": "object", "properties": INSTANCES}},
    },
}


def install(kubectl: Kubectl, group: str, version: str, spec: dict[str, Any]) -> str:
    """Make the kind SparkApplication of that group known; its CRD's name."""
    schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": spec}}}
    served = {"name": version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
    names = {"plural": "sparkapplications", "singular": "sparkapplication", "kind": "SparkApplication"}
    crd = {
        "apiVersion": "apiextensions.k8s.io/v1",
        "kind": "CustomResourceDefinition",
        # Groups below k8s.io need this.
        "metadata": {
            "name": f"sparkapplications.{group}",
            "annotations": {"api-approved.kubernetes.io": "unapproved, for tests"},
        },
        "spec": {"group": group, "scope": "Namespaced", "names": names, "versions": [served]},
    }
    kubectl.apply(crd)
    name = f"sparkapplications.{group}"
    kubectl("wait", "--for=condition=Established", "--timeout=30s", "crd", name)
    return name


def application(api_version: str, **spec: Any) -> dict[str, Any]:
    return {"apiVersion": api_version, "kind": "SparkApplication", "metadata": {"name": "orders"}, "spec": spec}


def driver_pod(name: str, account: str = "default", **labels: str) -> dict[str, Any]:
    """Labels that Spark itself gives a driver, and those of its operator."""
    return idle_pod(name, {"spark-role": "driver", "spark-app-selector": "spark-1", **labels}, "spark", account)
