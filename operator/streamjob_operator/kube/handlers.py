"""kopf's part: it watches StreamJobs, PartitionMaps and their pods, and says which StreamJob changed. No more.

Only event handlers are used: with them kopf writes nothing into anybody's objects, no annotation and no finalizer of
its own (docs/decisions/0012-operator.md).
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from typing import Any

import kopf
from kubernetes.client import Configuration

from streamjob_operator.kube.jobs import Jobs
from streamjob_operator.kube.kinds import PARTITION_MAPS, PODS, STREAM_JOBS
from streamjob_operator.kube.names import Annotation, Label

SILENCE_S = 90.0
"""A watch without any sign of life for so long is opened anew."""


class Changes:
    """Tells changes that matter from our own writes and heartbeats."""

    def __init__(self, jobs: Jobs) -> None:
        self._jobs = jobs
        self._marks: dict[tuple[str, str, str], Hashable] = {}

    def saw(self, kind: str, event: Mapping[str, Any], job: str | None, mark: Hashable) -> None:
        """An object of this kind that belongs to the StreamJob `job` was seen, with `mark` as what matters of it."""
        metadata = event["object"]["metadata"]
        key = (kind, metadata["namespace"], metadata["name"])
        gone = event.get("type") == "DELETED"
        changed = gone or self._marks.get(key) != mark
        if gone:
            self._marks.pop(key, None)
        else:
            self._marks[key] = mark
        if changed and job:
            self._jobs.wake(metadata["namespace"], job)


def make_registry(changes: Changes, connection: Configuration) -> kopf.OperatorRegistry:
    """The handlers."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return connection_info(connection)

    @kopf.on.event(STREAM_JOBS.group, STREAM_JOBS.version, STREAM_JOBS.plural, registry=registry)
    async def job_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.saw("job", event, event["object"]["metadata"]["name"], job_mark(event["object"]))

    @kopf.on.event(PARTITION_MAPS.group, PARTITION_MAPS.version, PARTITION_MAPS.plural, registry=registry)
    async def map_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.saw("map", event, event["object"]["metadata"]["name"], map_mark(event["object"]))

    @kopf.on.event("", PODS.version, PODS.plural, labels={Label.JOB.value: kopf.PRESENT}, registry=registry)
    async def pod_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.saw("pod", event, event["object"]["metadata"]["labels"][Label.JOB.value], pod_mark(event["object"]))

    return registry


def make_settings() -> kopf.OperatorSettings:
    """kopf as a watcher: no peering, no posting, pods of StreamJobs alone."""
    settings = kopf.OperatorSettings()
    settings.peering.standalone = True
    settings.posting.enabled = False
    settings.scanning.disabled = True  # our kinds are served by now; watching for others wants a right nobody needs
    settings.watching.inactivity_timeout = SILENCE_S
    settings.watching.label_selectors["", PODS.version, PODS.plural] = Label.JOB.value
    settings.networking.enforce_retry_after = True
    return settings


def connection_info(connection: Configuration) -> kopf.ConnectionInfo:
    """The same way to the API server as our own client's; tokens are read anew at each log-in."""
    header = connection.get_api_key_with_prefix("BearerToken") or connection.get_api_key_with_prefix("authorization")
    scheme, _, token = (header or "").rpartition(" ")
    return kopf.ConnectionInfo(
        server=connection.host,
        ca_path=connection.ssl_ca_cert,
        insecure=not connection.verify_ssl,
        username=connection.username or None,
        password=connection.password or None,
        scheme=scheme or None,
        token=token or None,
        certificate_path=connection.cert_file,
        private_key_path=connection.key_file,
    )


def job_mark(job: Mapping[str, Any]) -> Hashable:
    """What a person changes: spec, our annotations, deletion."""
    metadata = job["metadata"]
    annotations = metadata.get("annotations") or {}
    steering = tuple(annotations.get(one.value) for one in Annotation)
    return (metadata["uid"], metadata.get("generation"), metadata.get("deletionTimestamp"), *steering)


def map_mark(found: Mapping[str, Any]) -> Hashable:
    """What the agent reports, its heartbeat and the places of key groups left out."""
    status = found.get("status") or {}
    told = tuple(
        status.get(name) for name in ("applicationId", "generationApplied", "refused", "actuation", "agentUrl")
    )
    executors = [
        (one.get("id"), one.get("state"), one.get("groups") if one.get("state") == "draining" else None)
        for one in status.get("executors") or ()
    ]
    queries = [
        (one.get("queryId"), one.get("movesPending"), one.get("movesFailed"), (one.get("unusual") or {}).get("batchId"))
        for one in status.get("queries") or ()
    ]
    return (*told, tuple(executors), tuple(queries))


def pod_mark(pod: Mapping[str, Any]) -> Hashable:
    """Whether it runs, where, is ready, can be scheduled, or goes."""
    status = pod.get("status") or {}
    conditions = tuple((one.get("type"), one.get("status")) for one in status.get("conditions") or ())
    containers = tuple((one.get("ready"), str(one.get("state"))) for one in status.get("containerStatuses") or ())
    return (status.get("phase"), status.get("podIP"), conditions, containers, pod["metadata"].get("deletionTimestamp"))
