"""What the operator's account must be allowed: the list that the chart's role grants and `--self-check` asks for.

Kubernetes lets nobody hand on a right that he lacks himself: what a driver's role has is in it, too.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import (
    APACHE_APPLICATIONS,
    CONFIG_MAPS,
    EVENTS,
    KUBEFLOW_APPLICATIONS,
    LEASES,
    PARTITION_MAPS,
    POD_MONITORS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICE_MONITORS,
    SERVICES,
    STREAM_JOBS,
    VOLUME_CLAIMS,
    Kind,
)

_REVIEWS = Kind(
    group="authorization.k8s.io",
    version="v1",
    kind="SelfSubjectAccessReview",
    plural="selfsubjectaccessreviews",
    namespaced=False,
)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Right:
    """Verbs on one kind, or on a subresource of it; on the object of that `name` alone, where there is one."""

    kind: Kind
    verbs: tuple[str, ...]
    subresource: str | None = None
    name: str | None = None

    @property
    def resource(self) -> str:
        """PLURAL or PLURAL/SUBRESOURCE, as in a role."""
        return self.kind.plural + (f"/{self.subresource}" if self.subresource else "")


SPARKS = ("get", "list", "watch", "create", "update", "patch", "delete", "deletecollection")
"""What Spark's driver does to its executors' pods, and to what it makes for them."""
WHERE_JOBS_ARE: tuple[Right, ...] = (
    Right(kind=STREAM_JOBS, verbs=("get", "list", "watch", "patch")),
    Right(kind=STREAM_JOBS, subresource="status", verbs=("patch",)),
    Right(kind=STREAM_JOBS, subresource="finalizers", verbs=("update",)),
    Right(kind=PARTITION_MAPS, verbs=("get", "list", "watch", "create", "patch", "delete")),
    Right(kind=PARTITION_MAPS, subresource="status", verbs=("patch",)),
    Right(kind=PODS, verbs=SPARKS),
    Right(kind=SERVICES, verbs=SPARKS),
    Right(kind=CONFIG_MAPS, verbs=SPARKS),
    Right(kind=VOLUME_CLAIMS, verbs=SPARKS),
    Right(kind=SERVICE_ACCOUNTS, verbs=("get", "create", "patch")),
    Right(kind=ROLES, verbs=("get", "create", "patch")),
    Right(kind=ROLE_BINDINGS, verbs=("get", "create", "patch")),
    Right(kind=SECRETS, verbs=("get",)),
    Right(kind=EVENTS, verbs=("get", "create", "patch")),
    Right(kind=POD_MONITORS, verbs=("get", "create", "patch", "delete")),
    Right(kind=SERVICE_MONITORS, verbs=("get", "create", "patch", "delete")),
    Right(kind=KUBEFLOW_APPLICATIONS, verbs=("get",)),
    Right(kind=APACHE_APPLICATIONS, verbs=("get",)),
)
"""Rights in every namespace whose StreamJobs are looked after."""


def where_the_lease_is(name: str) -> tuple[Right, ...]:
    """Rights in the namespace of the Lease of that name. The control plane's own may lie beside it, and are not ours;
    what is made has no name yet that a right could be bound to.
    """
    return (Right(kind=LEASES, verbs=("create",)), Right(kind=LEASES, verbs=("get", "patch"), name=name))


def map_rules(name: str) -> list[dict[str, Any]]:
    """Rules of a Role: follow the map of that name, and write its status."""
    return [
        {
            "apiGroups": [PARTITION_MAPS.group],
            "resources": [PARTITION_MAPS.plural],
            "resourceNames": [name],
            "verbs": ["get", "watch"],
        },
        {
            "apiGroups": [PARTITION_MAPS.group],
            "resources": [f"{PARTITION_MAPS.plural}/status"],
            "resourceNames": [name],
            "verbs": ["patch"],
        },
    ]


def missing(api: KubeApi, rights: tuple[Right, ...], namespace: str | None) -> Iterator[str]:
    """`VERB RESOURCE` of each right that the account lacks there, None is everywhere; raises Unavailable, Refused."""
    for right in rights:
        for verb in right.verbs:
            if not _may(api, right, verb, namespace):
                yield f"{verb} {right.resource}"


def _may(api: KubeApi, right: Right, verb: str, namespace: str | None) -> bool:
    wanted = {"group": right.kind.group, "resource": right.kind.plural, "verb": verb}
    wanted |= {"subresource": right.subresource} if right.subresource else {}
    wanted |= {"namespace": namespace} if namespace else {}
    wanted |= {"name": right.name} if right.name else {}
    answer = api.create(_REVIEWS, {"metadata": {}, "spec": {"resourceAttributes": wanted}})
    return bool((answer.get("status") or {}).get("allowed"))
