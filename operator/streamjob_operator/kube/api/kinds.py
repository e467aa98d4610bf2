"""Kinds of Kubernetes objects that the operator reads or writes. Paths are known, so no discovery is needed."""

from __future__ import annotations

import dataclasses
import re

from streamjob_operator.kube import names
from streamjob_operator.kube.api.refusals import NotFound

_ONE_STEP = re.compile(r"(?![.]{1,2}$)[^/%?#\\\s]+")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of object; `group` is "" for the core API."""

    group: str
    version: str
    kind: str
    plural: str
    namespaced: bool = True

    @property
    def api_version(self) -> str:
        """As in the object's apiVersion."""
        return f"{self.group}/{self.version}" if self.group else self.version

    @property
    def root(self) -> str:
        """Path of its group and version, where the API server lists what it serves of it."""
        return f"/apis/{self.group}/{self.version}" if self.group else f"/api/{self.version}"

    def path(self, namespace: str | None = None, name: str | None = None, subresource: str | None = None) -> str:
        """Path on the API server; without a namespace all namespaces, without a name the collection.

        Raises NotFound for a name that no object can have: as a part of a path it would lead to another object.
        """
        for part in (namespace or None, name):
            if part is not None and not _ONE_STEP.fullmatch(part):
                raise NotFound(404, "NotFound", f"No object of {self.plural} can be named {part!r}.")
        scope = f"/namespaces/{namespace}" if namespace and self.namespaced else ""
        return f"{self.root}{scope}/{self.plural}" + "".join(f"/{part}" for part in (name, subresource) if part)


def _core(kind: str, plural: str, *, namespaced: bool = True) -> Kind:
    return Kind(group="", version="v1", kind=kind, plural=plural, namespaced=namespaced)


STREAM_JOBS = Kind(group=names.GROUP, version=names.VERSION, kind=names.JOB_KIND, plural=names.JOB_PLURAL)
PARTITION_MAPS = Kind(group=names.GROUP, version=names.VERSION, kind=names.MAP_KIND, plural=names.MAP_PLURAL)
NAMESPACES = _core("Namespace", "namespaces", namespaced=False)
NODES = _core("Node", "nodes", namespaced=False)
PODS = _core("Pod", "pods")
SERVICES = _core("Service", "services")
SERVICE_ACCOUNTS = _core("ServiceAccount", "serviceaccounts")
CONFIG_MAPS = _core("ConfigMap", "configmaps")
VOLUME_CLAIMS = _core("PersistentVolumeClaim", "persistentvolumeclaims")
SECRETS = _core("Secret", "secrets")
EVENTS = Kind(group="events.k8s.io", version="v1", kind="Event", plural="events")
LEASES = Kind(group="coordination.k8s.io", version="v1", kind="Lease", plural="leases")
ROLES = Kind(group="rbac.authorization.k8s.io", version="v1", kind="Role", plural="roles")
ROLE_BINDINGS = Kind(group="rbac.authorization.k8s.io", version="v1", kind="RoleBinding", plural="rolebindings")
POD_MONITORS = Kind(group="monitoring.coreos.com", version="v1", kind="PodMonitor", plural="podmonitors")
SERVICE_MONITORS = Kind(group="monitoring.coreos.com", version="v1", kind="ServiceMonitor", plural="servicemonitors")
KUBEFLOW_APPLICATIONS = Kind(
    group="sparkoperator.k8s.io", version="v1beta2", kind="SparkApplication", plural="sparkapplications"
)
APACHE_APPLICATIONS = Kind(group="spark.apache.org", version="v1", kind="SparkApplication", plural="sparkapplications")
CRDS = Kind(
    group="apiextensions.k8s.io",
    version="v1",
    kind="CustomResourceDefinition",
    plural="customresourcedefinitions",
    namespaced=False,
)
