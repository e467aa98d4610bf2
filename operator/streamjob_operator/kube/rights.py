"""What the operator's account must be allowed: the list that the chart's role grants and `--self-check` asks for."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

from streamjob_operator.kube.client import KubeApi
from streamjob_operator.kube.kinds import (
    CONFIG_MAPS,
    EVENTS,
    LEASES,
    PARTITION_MAPS,
    PODS,
    ROLE_BINDINGS,
    ROLES,
    SECRETS,
    SERVICE_ACCOUNTS,
    SERVICES,
    STREAM_JOBS,
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
    """Verbs on one kind, or on a subresource of it."""

    kind: Kind
    verbs: tuple[str, ...]
    subresource: str | None = None

    @property
    def resource(self) -> str:
        """PLURAL or PLURAL/SUBRESOURCE, as in a role."""
        return self.kind.plural + (f"/{self.subresource}" if self.subresource else "")


WHERE_JOBS_ARE: tuple[Right, ...] = (
    Right(kind=STREAM_JOBS, verbs=("get", "list", "watch", "patch")),
    Right(kind=STREAM_JOBS, subresource="status", verbs=("get", "patch")),
    Right(kind=PARTITION_MAPS, verbs=("get", "list", "watch", "create", "patch")),
    Right(kind=PARTITION_MAPS, subresource="status", verbs=("patch",)),
    Right(kind=PODS, verbs=("get", "list", "watch", "create", "patch", "delete")),
    Right(kind=SERVICES, verbs=("get", "create", "patch")),
    Right(kind=CONFIG_MAPS, verbs=("get", "create", "patch")),
    Right(kind=SERVICE_ACCOUNTS, verbs=("get", "create", "patch")),
    Right(kind=ROLES, verbs=("get", "create", "patch")),
    Right(kind=ROLE_BINDINGS, verbs=("get", "create", "patch")),
    Right(kind=SECRETS, verbs=("get",)),
    Right(kind=EVENTS, verbs=("get", "create", "patch")),
)
"""Rights in every namespace whose StreamJobs are looked after."""
WHERE_THE_LEASE_IS: tuple[Right, ...] = (Right(kind=LEASES, verbs=("get", "create", "patch")),)


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
    answer = api.create(_REVIEWS, {"metadata": {}, "spec": {"resourceAttributes": wanted}})
    return bool((answer.get("status") or {}).get("allowed"))
