"""Rights on one PartitionMap: what an agent's service account needs, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.children import apply_child, owned_metadata
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import ROLE_BINDINGS, ROLES, SERVICE_ACCOUNTS
from streamjob_operator.kube.api.rights import map_rules
from streamjob_operator.kube.driver.naming import child_name, job_labels


def grant_map(api: KubeApi, job: Mapping[str, Any], account: str) -> None:
    """Let an adopted driver's account at the job's map; raises Refused, Unavailable and their kinds."""
    name = job["metadata"]["name"]
    role = child_name(name, "map")
    ours = owned_metadata(job, role, job_labels(name))
    apply_child(api, job, ROLES, {"metadata": ours, "rules": map_rules(name)})
    subject = {"kind": SERVICE_ACCOUNTS.kind, "name": account, "namespace": ours["namespace"]}
    reference = {"apiGroup": ROLES.group, "kind": ROLES.kind, "name": role}
    apply_child(api, job, ROLE_BINDINGS, {"metadata": ours, "roleRef": reference, "subjects": [subject]})
