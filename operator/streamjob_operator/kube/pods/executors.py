"""Executors' pods of one Spark application: which there are, and what keeps them from coming.

Spark labels them itself: `spark-app-selector` is the application's id, `spark-exec-id` the executor's.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from typing import Any

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.driver.naming import SPARK_ROLE
from streamjob_operator.kube.driver.observe import is_ready, trouble, unschedulable
from streamjob_operator.kube.names import Label

APPLICATION, EXECUTOR = "spark-app-selector", "spark-exec-id"
MARK = "true"
_ENDED = ("Succeeded", "Failed")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorPod:
    """One executor's pod that has not ended. `trouble`: why it does not run, in the scheduler's or kubelet's words."""

    executor_id: str
    name: str
    namespace: str
    uid: str
    ready: bool
    marked: bool
    trouble: str | None

    @property
    def regarding(self) -> dict[str, Any]:
        """The pod as an event names it."""
        return _regarding(self.name, self.namespace, self.uid)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class LeavingPod:
    """One executor's pod that was told to end, has not, and may take `grace_s` for it from then on."""

    executor_id: str
    name: str
    namespace: str
    uid: str
    grace_s: float

    @property
    def regarding(self) -> dict[str, Any]:
        """The pod as an event names it."""
        return _regarding(self.name, self.namespace, self.uid)


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class ExecutorPods:
    """All of them, ordered by executor id as far as that is a number; those that are told to end apart."""

    pods: tuple[ExecutorPod, ...] = ()
    leaving: tuple[LeavingPod, ...] = ()

    @property
    def admitted(self) -> int:
        """Executors whose pods exist, ready or not."""
        return len(self.pods)

    @property
    def ready(self) -> int:
        """Executors whose pods are ready."""
        return sum(pod.ready for pod in self.pods)

    @property
    def names(self) -> dict[str, str]:
        """Executor id -> name of its pod."""
        return {pod.executor_id: pod.name for pod in self.pods}

    @property
    def trouble(self) -> str | None:
        """A sentence about the pods that cannot start, None when there are none."""
        stuck = [pod for pod in self.pods if pod.trouble is not None]
        if not stuck:
            return None
        others = f" (and {len(stuck) - 1} more)" if len(stuck) > 1 else ""
        return f"The executor's pod {stuck[0].name}{others} does not start: {stuck[0].trouble}"


def executor_pods(api: KubeApi, namespace: str, application_id: str, driver_uid: str | None) -> ExecutorPods:
    """The executors' pods of that Spark application; raises Refused, Unavailable.

    The id is what the agent says: pods that Spark has made for another driver are left out.
    """
    found = api.list(PODS, namespace, labels=selector(application_id))
    return read_pods(one for one in found if _drivers(one) <= {driver_uid})


def any_executor_pods(api: KubeApi, namespace: str, application_id: str) -> ExecutorPods:
    """The same, whichever driver Spark has made them for; raises Refused, Unavailable."""
    return read_pods(api.list(PODS, namespace, labels=selector(application_id)))


def selector(application_id: str) -> str:
    """Label selector of the executors' pods, by the labels that Spark gives them, whoever started the application."""
    return f"{APPLICATION}={application_id},{SPARK_ROLE}=executor"


def read_pods(documents: Iterable[Mapping[str, Any]]) -> ExecutorPods:
    """Pods as the API server lists them; those that have ended are left out."""
    here = [one for one in documents if not _ended(one) and EXECUTOR in (one["metadata"].get("labels") or {})]
    pods = [_read(one) for one in here if "deletionTimestamp" not in one["metadata"]]
    return ExecutorPods(
        pods=tuple(sorted(pods, key=lambda pod: (len(pod.executor_id), pod.executor_id))),
        leaving=tuple(_leaving(one["metadata"]) for one in here if "deletionTimestamp" in one["metadata"]),
    )


def _drivers(document: Mapping[str, Any]) -> set[str]:
    owners = document["metadata"].get("ownerReferences") or ()
    return {one["uid"] for one in owners if one.get("kind") == PODS.kind}


def _regarding(name: str, namespace: str, uid: str) -> dict[str, Any]:
    metadata = {"name": name, "namespace": namespace, "uid": uid}
    return {"apiVersion": PODS.api_version, "kind": PODS.kind, "metadata": metadata}


def _ended(document: Mapping[str, Any]) -> bool:
    return (document.get("status") or {}).get("phase") in _ENDED


def _leaving(metadata: Mapping[str, Any]) -> LeavingPod:
    return LeavingPod(
        executor_id=metadata["labels"][EXECUTOR],
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        grace_s=float(metadata.get("deletionGracePeriodSeconds") or 0),
    )


def _read(document: Mapping[str, Any]) -> ExecutorPod:
    metadata = document["metadata"]
    return ExecutorPod(
        executor_id=metadata["labels"][EXECUTOR],
        name=metadata["name"],
        namespace=metadata["namespace"],
        uid=metadata["uid"],
        ready=is_ready(document),
        marked=metadata["labels"].get(Label.MARKED.value) == MARK,
        trouble=unschedulable(document) or trouble(document),
    )
