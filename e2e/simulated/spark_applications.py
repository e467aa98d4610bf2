"""The kinds of other Spark operators, cut down to what StreamJob reads, names and types as they are published."""

from __future__ import annotations

import dataclasses
from typing import Any

_STAND_IN = {"api-approved.kubernetes.io": "unapproved, for tests"}
"""Groups below k8s.io need this annotation."""
_TEXTS = {"type": "object", "additionalProperties": {"type": "string"}}
_WHOLE = {"type": "integer"}
_KUBEFLOW_SPEC = {
    "sparkConf": _TEXTS,
    "type": {"type": "string"},
    "mainApplicationFile": {"type": "string"},
    "driver": {"type": "object", "properties": {"serviceAccount": {"type": "string"}}},
    "executor": {"type": "object", "properties": {"instances": _WHOLE}},
    "dynamicAllocation": {
        "type": "object",
        "properties": {"enabled": {"type": "boolean"}, "minExecutors": _WHOLE, "maxExecutors": _WHOLE},
    },
}
_INSTANCES = {"initExecutors": _WHOLE, "minExecutors": _WHOLE, "maxExecutors": _WHOLE}
_APACHE_SPEC = {
    "sparkConf": _TEXTS,
    "pyFiles": {"type": "string"},
    "applicationTolerations": {
        "type": "object",
        "properties": {"instanceConfig": {"type": "object", "properties": _INSTANCES}},
    },
}


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class SparkApplications:
    """The kind SparkApplication of one operator; `label` is what it gives an application's pods the name by."""

    group: str
    version: str
    label: str
    spec: dict[str, Any]

    @property
    def api_version(self) -> str:
        """As objects state it."""
        return f"{self.group}/{self.version}"

    @property
    def crd_name(self) -> str:
        """Of the CustomResourceDefinition."""
        return f"sparkapplications.{self.group}"

    def crd(self) -> dict[str, Any]:
        """The CustomResourceDefinition."""
        schema = {"type": "object", "properties": {"spec": {"type": "object", "properties": self.spec}}}
        served = {"name": self.version, "served": True, "storage": True, "schema": {"openAPIV3Schema": schema}}
        names = {"plural": "sparkapplications", "singular": "sparkapplication", "kind": "SparkApplication"}
        return {
            "apiVersion": "apiextensions.k8s.io/v1",
            "kind": "CustomResourceDefinition",
            "metadata": {"name": self.crd_name, "annotations": _STAND_IN},
            "spec": {"group": self.group, "scope": "Namespaced", "names": names, "versions": [served]},
        }

    def is_real(self, crd: dict[str, Any]) -> bool:
        """Whether a CustomResourceDefinition of that name is another one than ours: its operator may run."""
        return bool(crd) and not _STAND_IN.items() <= (crd["metadata"].get("annotations") or {}).items()

    def application(self, name: str, **spec: Any) -> dict[str, Any]:
        """One application."""
        return {"apiVersion": self.api_version, "kind": "SparkApplication", "metadata": {"name": name}, "spec": spec}


KUBEFLOW = SparkApplications(
    group="sparkoperator.k8s.io", version="v1beta2", label="sparkoperator.k8s.io/app-name", spec=_KUBEFLOW_SPEC
)
APACHE = SparkApplications(
    group="spark.apache.org", version="v1", label="spark.operator/spark-app-name", spec=_APACHE_SPEC
)
