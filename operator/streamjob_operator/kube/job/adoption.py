"""Applications that somebody else starts: finding the driver's pod, and saying what can and cannot be done for them.

Nothing of theirs is changed but the marks on executors' pods, and nothing is ever restarted: that is for whoever
started them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.client import KubeApi, Object
from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.driver import foreign
from streamjob_operator.kube.driver.naming import DRIVER_ROLE, SPARK_ROLE
from streamjob_operator.kube.driver.observe import driver_pod
from streamjob_operator.kube.driver.values import DriverPod, PodPhase
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.kube.pods.executors import APPLICATION
from streamjob_operator.kube.watched.trimmed import watched
from streamjob_operator.spec import ApplicationRef, Spec
from streamjob_operator.spec.quantities import format_duration

LOOK_S = 10.0
"""Between two looks for a pod that no watch tells of."""
AGENT_STARTS_S = 120.0
"""Time that a driver gets to start its session before a missing agent is called missing."""
NO_SUSPEND = "spec.suspend has no effect: the driver is started and stopped by somebody else."


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Adoption:
    """What was found out about an adopted application.

    Attributes:
        phase: Pending (no driver found, or no agent in it), Submitting, Running or Failed.
        pod, pod_uid, address: the driver's pod and its place on the network; None while there is none.
        application_id: Spark's id as the pod's labels tell it; None where they do not.
        limits: sentences about what cannot be done for it.
        stalled: it does not go on without a person.
        account: the driver's service account, which must be let at the PartitionMap.
        awaited_since_s: since when an agent is waited for in the running pod, by our clock; None when it is not.
        next_look_s: when to look again; None when a watch tells of changes.
    """

    phase: Phase
    reason: KubeReason
    sentence: str
    pod: str | None = None
    pod_uid: str | None = None
    address: str | None = None
    application_id: str | None = None
    limits: tuple[str, ...] = ()
    stalled: bool = False
    account: str | None = None
    awaited_since_s: float | None = None
    next_look_s: float | None = LOOK_S


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Awaited:
    """The pod whose agent was waited for at the last look, and since when, by our clock."""

    pod_uid: str | None = None
    since_s: float | None = None


def adopt(
    api: KubeApi,
    metadata: Mapping[str, Any],
    spec: Spec,
    agent: AgentStatus | None,
    now_s: float,
    awaited: Awaited = Awaited(),
) -> Adoption:
    """Look at the application that spec.applicationRef names; `metadata` is the StreamJob's.

    Raises Refused, Unavailable.
    """
    ref = spec.application_ref
    if ref is None:
        raise ValueError("spec.applicationRef is needed")
    namespace, name = metadata["namespace"], metadata["name"]
    found, theirs = _look(api, namespace, ref)
    if isinstance(found, Adoption):
        return found
    limits = (*foreign.limits(ref, theirs, spec), *([NO_SUSPEND] if spec.suspend else []))
    pod = driver_pod(found)
    since_s = awaited.since_s if awaited.pod_uid == pod.uid and awaited.since_s is not None else now_s
    told = _judge(pod, _application_id(found), agent, f"{namespace}/{name}", now_s - since_s)
    refusal = foreign.refusal(ref, theirs)
    if refusal is not None:
        told = dataclasses.replace(
            told, phase=Phase.PENDING, reason=KubeReason.APPLICATION_REFUSED, sentence=refusal, stalled=True
        )
    elif told.reason is KubeReason.ADOPTED and limits:
        told = dataclasses.replace(told, reason=KubeReason.ADOPTED_WITH_LIMITS)
    return dataclasses.replace(
        told,
        pod=pod.name,
        pod_uid=pod.uid,
        address=pod.address,
        application_id=_application_id(found),
        limits=limits,
        account=(found.get("spec") or {}).get("serviceAccountName"),
        awaited_since_s=since_s if told.phase in (Phase.PENDING, Phase.SUBMITTING) and _started(pod) else None,
        next_look_s=None if watched(PODS, found) else LOOK_S,
    )


def _look(api: KubeApi, namespace: str, ref: ApplicationRef) -> tuple[Object | Adoption, Object | None]:
    """The driver's pod, or why there is none; and the SparkApplication, where there is one."""
    if ref.match_labels is not None:
        labels = ",".join(f"{key}={value}" for key, value in sorted(ref.match_labels.items()))
        pods = [one for one in api.list(PODS, namespace, labels=labels) if _may_be_a_driver(one)]
        return _only(pods, f"applicationRef.matchLabels ({labels})"), None
    name = str(ref.name)
    if ref.kind == "Pod":
        pod = api.get(PODS, name, namespace)
        return pod or _not_found(f"There is no pod {name} in namespace {namespace}."), None
    application = api.get(foreign.kind_of(ref), name, namespace)
    if application is None:
        return _not_found(f"There is no SparkApplication {name} of {ref.api_version} in namespace {namespace}."), None
    pods = api.list(PODS, namespace, labels=f"{foreign.name_label(ref)}={name},{SPARK_ROLE}={DRIVER_ROLE}")
    return _only(pods, f"SparkApplication {name}"), application


def _may_be_a_driver(pod: Object) -> bool:
    """Not an executor: a whole application's labels are on these, too. A driver that Spark has not made has no role."""
    labels: Mapping[str, str] = pod["metadata"].get("labels") or {}
    return labels.get(SPARK_ROLE, DRIVER_ROLE) == DRIVER_ROLE


def _only(pods: list[Object], what: str) -> Object | Adoption:
    """The one that runs, else the newest that ended."""
    going = [pod for pod in pods if not driver_pod(pod).ended and not driver_pod(pod).deleting]
    if len(going) > 1:
        names = ", ".join(sorted(pod["metadata"]["name"] for pod in going)[:5])
        sentence = f"{what} fits {len(going)} driver pods, and one is needed: {names}."
        reason = KubeReason.APPLICATION_AMBIGUOUS
        return Adoption(phase=Phase.PENDING, reason=reason, sentence=sentence, stalled=True)
    if not pods:
        return _not_found(f"{what} has no driver pod yet.")
    return (going or sorted(pods, key=lambda pod: str(pod["metadata"].get("creationTimestamp"))))[-1]


def _not_found(sentence: str) -> Adoption:
    return Adoption(phase=Phase.PENDING, reason=KubeReason.APPLICATION_NOT_FOUND, sentence=sentence)


def _judge(
    pod: DriverPod, application_id: str | None, agent: AgentStatus | None, map_name: str, waited_s: float
) -> Adoption:
    if pod.ended:
        reason = KubeReason.DRIVER_ENDED if pod.phase is PodPhase.SUCCEEDED else KubeReason.DRIVER_FAILED
        why = "" if pod.why is None else f" ({pod.why})"
        sentence = f"The driver's pod {pod.name} has ended{why}; whoever started it decides about a restart."
        return Adoption(phase=Phase.FAILED, reason=reason, sentence=sentence)
    if agent is not None and (application_id is None or agent.application_id == application_id):
        sentence = f"The driver in pod {pod.name} is looked after; somebody else starts and stops it."
        return Adoption(phase=Phase.RUNNING, reason=KubeReason.ADOPTED, sentence=sentence)
    if not _started(pod) or waited_s < AGENT_STARTS_S:
        sentence = f"The driver's pod {pod.name} starts; its agent has not reported yet."
        return Adoption(phase=Phase.SUBMITTING, reason=KubeReason.DRIVER_STARTING, sentence=sentence)
    sentence = (
        f"No agent has reported from the driver's pod {pod.name} within {format_duration(AGENT_STARTS_S)}: start its "
        f"script by `python -m streamjob_agent run`, with STREAMJOB_AGENT_PARTITION_MAP={map_name} in the driver's "
        "environment. StreamJob does not restart it."
    )
    return Adoption(phase=Phase.PENDING, reason=KubeReason.AGENT_MISSING, sentence=sentence, stalled=True)


def _started(pod: DriverPod) -> bool:
    return pod.started_at_s is not None


def _application_id(document: Object) -> str | None:
    found = (document["metadata"].get("labels") or {}).get(APPLICATION)
    return None if found is None else str(found)
