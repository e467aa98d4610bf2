"""kopf's part: it watches StreamJobs, PartitionMaps and Spark's pods; stores take all, and who has changed is woken.

Only event handlers are used: with them kopf writes nothing into anybody's objects, no annotation and no finalizer of
its own (docs/decisions/0012-operator.md).
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Hashable, Iterable, Iterator, Mapping
from datetime import UTC, datetime
from typing import Any

import kopf
from kubernetes.client import Configuration

from streamjob_operator.kube.api.client import PAGE
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.driver.naming import SPARK_ROLE
from streamjob_operator.kube.names import Annotation
from streamjob_operator.kube.process.jobs import Jobs
from streamjob_operator.kube.watched.adopted import Adopted
from streamjob_operator.kube.watched.relist import SELECTORS
from streamjob_operator.kube.watched.store import Store

SILENCE_S = 90.0
"""A watch without any sign of life for so long is opened anew."""
IDLE_S = 1.0
"""kopf's task of an object ends when the object was silent for so long. While it waits it holds the newest document as
dictionaries, some 0.1 MiB a job; to begin anew costs 0.15 ms, a third of an event."""

AGAIN_S = (1.0, 2.0, 5.0, 10.0, 20.0, 30.0)
"""Waits of a watch that is refused, or whose server fails; the last one for as long as that is so."""

LOGIN_S = 600.0
"""kopf trusts for as long as its log-in lasts whom it trusted then; the file that says whom is replaced in place."""


class Changes:
    """Tells changes that matter from our own writes and heartbeats; the stores take all of them."""

    def __init__(self, jobs: Jobs, stores: Mapping[Kind, Store]) -> None:
        self._jobs = jobs
        self._stores = stores
        self._adopted = Adopted()
        self._marks: dict[tuple[Kind, str, str], int] = {}

    def job(self, event: Mapping[str, Any]) -> None:
        """A StreamJob was seen."""
        found = event["object"]
        self._adopted.job(found, gone=_gone(event))
        self._saw(STREAM_JOBS, event, job_mark(found), (found["metadata"]["name"],))

    def map(self, event: Mapping[str, Any]) -> None:
        """A PartitionMap was seen."""
        found = event["object"]
        self._adopted.map(found, gone=_gone(event))
        self._saw(PARTITION_MAPS, event, map_mark(found), (found["metadata"]["name"],))

    def pod(self, event: Mapping[str, Any]) -> None:
        """A driver's or an executor's pod was seen, whoever made it."""
        self._saw(PODS, event, pod_mark(event["object"]), self._adopted.jobs_of(event["object"]))

    def settle(self) -> None:
        """Forget what has gone while no watch was open: the stores have been listed anew."""
        there = {kind: store.keys() for kind, store in self._stores.items()}
        self._marks = {key: mark for key, mark in self._marks.items() if key[1:] in there[key[0]]}
        self._adopted.keep(there[STREAM_JOBS], there[PARTITION_MAPS])

    def _saw(self, kind: Kind, event: Mapping[str, Any], mark: Hashable, jobs: Iterable[str]) -> None:
        """`mark` is what matters of it."""
        found, metadata = event["object"], event["object"]["metadata"]
        key, seen = (kind, metadata["namespace"], metadata["name"]), hash(mark)
        if _gone(event):
            self._stores[kind].drop(key[1], key[2], int(metadata["resourceVersion"]))
            self._marks.pop(key, None)
        else:
            self._stores[kind].put(found)
            if self._marks.get(key) == seen:
                return
            self._marks[key] = seen
        for job in jobs:
            listed, ours = event.get("type") is None, kind is STREAM_JOBS
            going = _gone(event) or "deletionTimestamp" in metadata
            # Of a StreamJob only a person's changes count.
            self._jobs.wake(metadata["namespace"], job, listed=listed, asked=ours, going=going if ours else None)


def _gone(event: Mapping[str, Any]) -> bool:
    return event.get("type") == "DELETED"


def make_registry(changes: Changes, connection: Configuration) -> kopf.OperatorRegistry:
    """The handlers."""
    registry = kopf.OperatorRegistry()

    @kopf.on.login(registry=registry)
    def login(**_: Any) -> kopf.ConnectionInfo:
        return connection_info(connection, time.time())

    @kopf.on.event(STREAM_JOBS.group, STREAM_JOBS.version, STREAM_JOBS.plural, registry=registry)
    async def job_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.job(event)

    @kopf.on.event(PARTITION_MAPS.group, PARTITION_MAPS.version, PARTITION_MAPS.plural, registry=registry)
    async def map_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.map(event)

    @kopf.on.event("", PODS.version, PODS.plural, labels={SPARK_ROLE: kopf.PRESENT}, registry=registry)
    async def pod_event(event: Mapping[str, Any], **_: Any) -> None:
        changes.pod(event)

    return registry


class ForEver:
    """AGAIN_S without an end. kopf ends the whole operator with its last attempt, and in one of several namespaces the
    rights may be gone: they are its tenants' to delete."""

    def __iter__(self) -> Iterator[float]:
        """From the first wait on, for each question anew."""
        yield from AGAIN_S
        yield from itertools.repeat(AGAIN_S[-1])


class NothingKept(kopf.DiffBaseStorage):
    """No object's former state. kopf would look for one at each event, and copy the object, though no handler asks."""

    def build(self, **_: Any) -> kopf.BodyEssence:
        """Nothing of an object is compared."""
        return kopf.BodyEssence()

    def fetch(self, **_: Any) -> None:
        """Nothing was kept."""

    def store(self, **_: Any) -> None:
        """Nothing is kept."""


def make_settings() -> kopf.OperatorSettings:
    """kopf as a watcher: no peering, no posting, of all pods Spark's alone; lists come in pages."""
    settings = kopf.OperatorSettings()
    settings.persistence.diffbase_storage = NothingKept()
    settings.peering.standalone = True
    settings.posting.enabled = False
    settings.queueing.idle_timeout = IDLE_S
    settings.scanning.disabled = True  # our kinds are served by now; watching for others wants a right nobody needs
    settings.watching.inactivity_timeout = SILENCE_S
    settings.watching.chunk_size = PAGE
    settings.watching.label_selectors["", PODS.version, PODS.plural] = SELECTORS[PODS]
    settings.networking.enforce_retry_after = True
    settings.networking.error_backoffs = ForEver()
    return settings


def connection_info(connection: Configuration, now_s: float) -> kopf.ConnectionInfo:
    """The same way to the API server as our own client's; tokens and authorities are read anew at each log-in.

    It ends at the next whole LOGIN_S since the epoch: log-ins until then are alike, and kopf repeats none that failed.
    """
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
        expiration=datetime.fromtimestamp((now_s // LOGIN_S + 1) * LOGIN_S, UTC),
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
        (
            *(one.get(name) for name in ("queryId", "movesPending", "movesFailed")),
            *((one.get(news) or {}).get("batchId") for news in ("unusual", "risen")),
        )
        for one in status.get("queries") or ()
    ]
    return (*told, tuple(executors), tuple(queries))


def pod_mark(pod: Mapping[str, Any]) -> Hashable:
    """Whether it runs, where, is ready, can be scheduled, or goes."""
    status = pod.get("status") or {}
    conditions = tuple((one.get("type"), one.get("status")) for one in status.get("conditions") or ())
    containers = tuple((one.get("ready"), str(one.get("state"))) for one in status.get("containerStatuses") or ())
    return (status.get("phase"), status.get("podIP"), conditions, containers, pod["metadata"].get("deletionTimestamp"))
