"""Owner references: what a StreamJob owns goes with it, and what it does not own is not its own. Pure."""

from __future__ import annotations

import enum
from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.kinds import STREAM_JOBS

Document = Mapping[str, Any]


class Belongs(enum.Enum):
    """Whose an object is."""

    OURS = "ours"
    """This StreamJob's, told by its uid."""

    FORMER = "former"
    """A StreamJob's that had this one's name before: Kubernetes takes it away, or it was restored from a backup."""

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
    return Belongs.OTHERS if owners else Belongs.NOBODYS


def _names_alike(owner: Document, job: Document) -> bool:
    group = str(owner.get("apiVersion", "")).partition("/")[0]
    return (group, owner.get("kind"), owner.get("name")) == (
        STREAM_JOBS.group,
        STREAM_JOBS.kind,
        job["metadata"]["name"],
    )
