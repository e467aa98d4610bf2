"""What is kept of a watched object: as much as is ever looked at. Pure.

A pod as the API server sends it has 5 to 10 KB, nine tenths of which nobody here reads.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.client import Object
from streamjob_operator.kube.api.kinds import PODS, Kind
from streamjob_operator.kube.driver.naming import SPARK_ROLE
from streamjob_operator.kube.names import APPLICATION_HASH

_POD_TIMES = ("creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds")
_POD_METADATA = ("name", "namespace", "uid", "resourceVersion", "labels", *_POD_TIMES)
_POD_SPEC = ("restartPolicy", "terminationGracePeriodSeconds", "serviceAccountName")
_POD_STATUS = ("phase", "reason", "message", "podIP")
_STATES = ("initContainerStatuses", "containerStatuses")


def watched(kind: Kind, document: Mapping[str, Any]) -> bool:
    """Whether a watch will tell of its changes: of pods, those that have one of Spark's roles."""
    return kind != PODS or SPARK_ROLE in (document["metadata"].get("labels") or {})


def trimmed(kind: Kind, document: Mapping[str, Any]) -> Object:
    """The document without what nobody looks at."""
    if kind == PODS:
        return _pod(document)
    metadata = {name: value for name, value in document["metadata"].items() if name != "managedFields"}
    return {**document, "metadata": metadata}


def _pod(document: Mapping[str, Any]) -> Object:
    metadata, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    return {
        "apiVersion": PODS.api_version,
        "kind": PODS.kind,
        "metadata": _some(metadata, _POD_METADATA)
        | {"annotations": _some(metadata.get("annotations") or {}, (APPLICATION_HASH,))}
        | {
            "ownerReferences": [
                _some(one, ("kind", "name", "uid", "apiVersion")) for one in _listed(metadata, "ownerReferences")
            ]
        },
        "spec": _some(spec, _POD_SPEC) | {"containers": [_some(one, ("name",)) for one in _listed(spec, "containers")]},
        "status": _some(status, _POD_STATUS)
        | {"conditions": [_some(one, ("type", "status", "reason", "message")) for one in _listed(status, "conditions")]}
        | {name: [_some(one, ("name", "ready", "state")) for one in _listed(status, name)] for name in _STATES},
    }


def _some(document: Mapping[str, Any], names: tuple[str, ...]) -> Object:
    return {name: document[name] for name in names if name in document}


def _listed(document: Mapping[str, Any], name: str) -> list[Mapping[str, Any]]:
    return document.get(name) or []
