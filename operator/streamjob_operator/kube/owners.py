"""Owner references: what a StreamJob owns goes with it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.kinds import STREAM_JOBS


def owner_reference(job: Mapping[str, Any]) -> dict[str, Any]:
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
