"""Our finalizer on a StreamJob: put on and taken off by server-side apply, so that nobody else's is ever touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.client import KubeApi
from streamjob_operator.kube.kinds import STREAM_JOBS
from streamjob_operator.kube.names import FINALIZER
from streamjob_operator.kube.refusals import Conflict, NotFound


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
    """Take our finalizer off; the StreamJob is gone then, unless others hold it."""
    if not held(document):
        return
    try:
        api.apply(STREAM_JOBS, {"metadata": _identity(document)})
    except (NotFound, Conflict):  # gone already; the uid keeps us from making it anew
        return


def _identity(document: Mapping[str, Any]) -> dict[str, Any]:
    return {name: document["metadata"][name] for name in ("name", "namespace", "uid")}
