"""Our finalizer on a StreamJob: put on by server-side apply, taken off whoever put it there; no other is touched.

A restored backup, or a manifest that was exported and applied, has our finalizer under another manager's name.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import Conflict, NotFound
from streamjob_operator.kube.names import FINALIZER
from streamjob_operator.ports import Unavailable

ATTEMPTS = 5


def held(document: Mapping[str, Any]) -> bool:
    """Whether our finalizer is on it."""
    return FINALIZER in (document["metadata"].get("finalizers") or ())


def hold(api: KubeApi, document: Mapping[str, Any]) -> Mapping[str, Any]:
    """The StreamJob with our finalizer on it."""
    return (
        document
        if held(document)
        else api.apply(STREAM_JOBS, {"metadata": _identity(document) | {"finalizers": [FINALIZER]}})
    )


def release(api: KubeApi, document: Mapping[str, Any]) -> None:
    """Take our finalizer off; the StreamJob is gone then, unless others hold it. Raises Unavailable, Refused."""
    seen: Mapping[str, Any] | None = document
    name, namespace = document["metadata"]["name"], document["metadata"]["namespace"]
    for _ in range(ATTEMPTS):
        if seen is None or seen["metadata"]["uid"] != document["metadata"]["uid"] or not held(seen):
            return
        try:
            api.merge_patch(STREAM_JOBS, name, namespace, {"metadata": _without_ours(seen)})
            return
        except NotFound:
            return
        except Conflict:  # it has changed since
            seen = api.get(STREAM_JOBS, name, namespace)
    raise Unavailable(f"The StreamJob changed at each of {ATTEMPTS} attempts to take its finalizer off.")


def _without_ours(document: Mapping[str, Any]) -> dict[str, Any]:
    """The others' finalizers, as long as nothing has changed."""
    metadata = document["metadata"]
    others = [one for one in metadata["finalizers"] if one != FINALIZER]
    return {"finalizers": others, "resourceVersion": metadata["resourceVersion"]}


def _identity(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document["metadata"][name] for name in ("name", "namespace", "uid")}
