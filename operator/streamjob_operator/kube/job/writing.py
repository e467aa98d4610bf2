"""Writes a StreamJob's status: only when it changed, and never over what another operator has decided since."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import STREAM_JOBS
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_operator.kube.models.status import Status
from streamjob_operator.kube.report.compose import to_document
from streamjob_operator.ports import Stale, Unavailable

ATTEMPTS = 5


def write_status(api: KubeApi, read: Mapping[str, Any], status: Status) -> Mapping[str, Any]:
    """The StreamJob with the new status; `read` is what it was made from.

    A user may change the spec in between; another operator may not change the memory, which raises Stale: then it has
    become the leader. Raises NotFound, Conflict, Unavailable.
    """
    wanted = to_document(status)
    if wanted == _status(read):
        return read
    seen = read = _without_a_former_life(api, read)
    for _ in range(ATTEMPTS):
        metadata = {name: seen["metadata"][name] for name in ("name", "namespace", "uid", "resourceVersion")}
        try:
            document = {"metadata": metadata, "status": wanted}
            return api.apply(STREAM_JOBS, document, subresource="status", force=True)
        except Conflict:
            seen = _again(api, read, wanted)
            if _status(seen) == wanted:  # written by a call of ours whose answer was lost
                return seen
    raise Unavailable(f"The StreamJob changed at each of {ATTEMPTS} attempts to write its status.")


def _without_a_former_life(api: KubeApi, read: Mapping[str, Any]) -> Mapping[str, Any]:
    """The StreamJob without the status of another one, that a backup's tool has restored.

    Its fields are that tool's own, so applying ours would leave those that we lack; the next turn took them for ours.
    """
    metadata, uid = read["metadata"], _status(read).get("uid")
    if uid is None or uid == metadata["uid"]:
        return read
    patch = {"metadata": {"resourceVersion": metadata["resourceVersion"]}, "status": None}
    return api.merge_patch(STREAM_JOBS, metadata["name"], metadata["namespace"], patch, subresource="status")


def _again(api: KubeApi, read: Mapping[str, Any], wanted: Mapping[str, Any]) -> Mapping[str, Any]:
    metadata = read["metadata"]
    seen = api.get(STREAM_JOBS, metadata["name"], metadata["namespace"])
    if seen is None or seen["metadata"]["uid"] != metadata["uid"]:
        raise Stale("The StreamJob was deleted in the meantime.")
    if _status(seen) != wanted and _memory(seen) != _memory(read):
        raise Stale("Another operator has written the status in the meantime.")
    return seen


def _memory(document: Mapping[str, Any]) -> object:
    return _status(document).get("memory")


def _status(document: Mapping[str, Any]) -> Mapping[str, Any]:
    found: Mapping[str, Any] = document.get("status") or {}
    return found
