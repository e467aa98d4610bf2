"""Objects that a StreamJob owns: each is applied whole, its owner included, and nobody else's is taken over.

Server-side apply takes away what a later document of the same manager lacks, so one that left the owner out would cut
the object off from its StreamJob.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.client import KubeApi, Object
from streamjob_operator.kube.api.kinds import Kind
from streamjob_operator.kube.api.owners import Belongs, owner_reference, whose
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.ports import Unavailable

CONFLICT = 409


class NotOurs(Refused):
    """An object of the name that we need is there and belongs to somebody else."""

    def __init__(self, kind: Kind, name: str) -> None:
        sentence = f"{kind.kind} {name} is there already and does not belong to this StreamJob; it is left alone."
        super().__init__(CONFLICT, "NotOurs", sentence)


class FormerLife(Unavailable):
    """An object of the name that we need is still there from a StreamJob that had this one's name before."""

    def __init__(self, kind: Kind, name: str) -> None:
        whose = "belongs to a StreamJob of the same name that is gone"
        super().__init__(f"{kind.kind} {name} {whose}; Kubernetes is about to delete it.")


def owned_metadata(job: Mapping[str, Any], name: str, labels: Mapping[str, str]) -> Object:
    """Name, labels, and the owner with whom the object goes; `job` is the StreamJob as read."""
    return {
        "name": name,
        "namespace": job["metadata"]["namespace"],
        "labels": dict(labels),
        "ownerReferences": [owner_reference(job)],
    }


def apply_child(api: KubeApi, job: Mapping[str, Any], kind: Kind, manifest: Object) -> Object:
    """Apply the whole object; fields that others added to it stay, and one that lost its owner gets it back.

    Raises NotOurs, FormerLife, Refused, Unavailable.
    """
    there = api.get(kind, manifest["metadata"]["name"], job["metadata"]["namespace"])
    if there is not None and whose(there, job) is not Belongs.LOST:
        require_ours(there, job, kind)
    return api.apply(kind, manifest, force=True)


def require_ours(document: Object, job: Mapping[str, Any], kind: Kind) -> None:
    """Raise NotOurs or FormerLife unless the job owns the object: nobody else's is taken over, changed or deleted."""
    found = whose(document, job)
    if found is Belongs.FORMER:
        raise FormerLife(kind, document["metadata"]["name"])
    if found is not Belongs.OURS:
        raise NotOurs(kind, document["metadata"]["name"])
