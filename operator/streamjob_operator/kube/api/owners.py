"""Owner references: what a StreamJob owns goes with it, and what it does not own is not its own. Pure."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.names import Label

Document = Mapping[str, Any]


class Belongs(enum.Enum):
    """Whose an object is."""

    OURS = "ours"
    """This StreamJob's, told by its uid."""

    FORMER = "former"
    """A StreamJob's that had this one's name before: Kubernetes takes it away, or it was restored from a backup."""

    LOST = "lost"
    """Made for a StreamJob of this name, as its label says, and without an owner: a backup's tool restores objects so,
    and `kubectl delete --cascade=orphan` leaves them so."""

    NOBODYS = "nobody's"
    OTHERS = "others'"


def owner_reference(job: Document) -> dict[str, Any]:
    """A reference to the StreamJob as the controller of another object, for metadata.ownerReferences."""
    metadata = job["metadata"]
    return {
        "apiVersion": STREAM_JOBS.api_version,
        "kind": STREAM_JOBS.kind,
        "name": metadata["name"],
        "uid": metadata["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }


def whose(document: Document, job: Document) -> Belongs:
    """Whose the document is, as the StreamJob sees it."""
    owners = document["metadata"].get("ownerReferences") or ()
    if any(one.get("uid") == job["metadata"]["uid"] for one in owners):
        return Belongs.OURS
    if any(_names_alike(one, job) for one in owners):
        return Belongs.FORMER
    if owners:
        return Belongs.OTHERS
    label = (document["metadata"].get("labels") or {}).get(Label.JOB.value)
    return Belongs.LOST if label == job["metadata"]["name"] else Belongs.NOBODYS


def _names_alike(owner: Document, job: Document) -> bool:
    group = str(owner.get("apiVersion", "")).partition("/")[0]
    return (group, owner.get("kind"), owner.get("name")) == (
        STREAM_JOBS.group,
        STREAM_JOBS.kind,
        job["metadata"]["name"],
    )
