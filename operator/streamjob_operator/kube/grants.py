"""Rights on one PartitionMap: what an agent's service account needs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.client import KubeApi
from streamjob_operator.kube.driver.naming import child_name, job_labels
from streamjob_operator.kube.kinds import PARTITION_MAPS, ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS
from streamjob_operator.kube.owners import owner_reference


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


def grant_map(api: KubeApi, job: Mapping[str, Any], account: str) -> None:
    """Let an adopted driver's account at the job's map; raises Refused, Unavailable."""
    metadata = job["metadata"]
    role = child_name(metadata["name"], "map")
    ours = {
        "name": role,
        "namespace": metadata["namespace"],
        "labels": job_labels(metadata["name"]),
        "ownerReferences": [owner_reference(job)],
    }
    api.apply(ROLES, {"metadata": ours, "rules": map_rules(metadata["name"])}, force=True)
    subject = {"kind": SERVICE_ACCOUNTS.kind, "name": account, "namespace": metadata["namespace"]}
    reference = {"apiGroup": ROLES.group, "kind": ROLES.kind, "name": role}
    api.apply(ROLE_BINDINGS, {"metadata": ours, "roleRef": reference, "subjects": [subject]}, force=True)
