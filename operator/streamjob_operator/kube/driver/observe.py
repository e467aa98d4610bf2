"""The driver's pod as Kubernetes shows it, as a value. Pure."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Mapping
from typing import Any

from streamjob_operator.kube.driver.values import DriverPod, PodPhase
from streamjob_operator.kube.names import APPLICATION_HASH
from streamjob_operator.unsteered import first_bytes, last_bytes, one_line, unsteered

CONTAINER = "driver"
_DRIVERS_OWN = (CONTAINER, "spark-kubernetes-driver")
"""Names of the driver's container: ours, and the one that Spark gives where a template names none."""
LONGEST_WORDS_BYTES = 800
"""Of a driver's last words, or of others' about its end, in UTF-8: what is kept, so that an event has room for it."""
_OWN_DEADLINE = "DeadlineExceeded"
_FATAL_WAITS = frozenset(
    ("ErrImagePull", "ImagePullBackOff", "InvalidImageName", "ErrImageNeverPull", "CreateContainerConfigError")
) | {"CreateContainerError", "RunContainerError"}
_UNSEEN = frozenset(("ContainerStatusUnknown", "Unknown"))
"""Reasons that the kubelet and containerd give for an end that neither has seen, with 137 and 255 as exit codes."""
Document = Mapping[str, Any]


def driver_pod(document: Document) -> DriverPod:
    """A driver's pod; absent fields count as not there yet."""
    metadata, spec, status = document["metadata"], document.get("spec") or {}, document.get("status") or {}
    container = _container(document, status)
    state = container.get("state") or {}
    ended = state.get("terminated") or {}
    lost = _lost(ended)
    disruption = _disruption(document) or lost
    return DriverPod(
        name=metadata["name"],
        uid=metadata["uid"],
        phase=PodPhase(status.get("phase") or "Pending"),
        application_hash=(metadata.get("annotations") or {}).get(APPLICATION_HASH, ""),
        ready=bool(container.get("ready")),
        deleting=bool(metadata.get("deletionTimestamp")),
        started_at_s=_started_at_s(state),
        ended_at_s=seconds(ended.get("finishedAt")),
        exit_code=ended.get("exitCode"),
        exited=bool(ended) and spec.get("restartPolicy") == "Never",
        disrupted=disruption is not None,
        why=disruption or ended.get("reason"),
        last_words=None if lost is not None else _last_words(ended.get("message")),
        unschedulable=unschedulable(document),
        trouble=None if state.get("running") else trouble(document),
        address=status.get("podIP"),
        grace_s=float(spec.get("terminationGracePeriodSeconds") or 30),
    )


def _container(document: Document, status: Document) -> Document:
    """The status of the driver's own container, whichever sidecars there are: it is known by its name, else the first.

    A webhook may put a sidecar before it, as Istio does with holdApplicationUntilProxyStarts.
    """
    names = [one.get("name") for one in (document.get("spec") or {}).get("containers") or [{}]]
    own = next((one for one in _DRIVERS_OWN if one in names), names[0])
    return next((one for one in status.get("containerStatuses") or () if one.get("name") == own), {})


def _started_at_s(state: Document) -> float | None:
    """None where it never ran: containerd gives a container that could not be started the year 1970
    (kubernetes/kubernetes#120331), and a driver that ran for decades would have been healthy.
    """
    running = state.get("running")
    at_s = seconds((running or state.get("terminated") or {}).get("startedAt"))
    return at_s if running or at_s != 0.0 else None


def _lost(ended: Document) -> str | None:
    """What is said of a container whose end nobody saw, as after a node's restart; its exit code is made up."""
    reason = ended.get("reason")
    return _because(reason, ended.get("message") or "nobody saw its end") if reason in _UNSEEN else None


def _disruption(document: Document) -> str | None:
    """What was done to the pod, in the words of who did it; None when nothing was, and its containers ended themselves.

    A pod with a reason of its own was evicted, or refused by its node; the condition tells preemption and drains.
    """
    status, target = document.get("status") or {}, _condition(document, "DisruptionTarget")
    told = target if target.get("status") == "True" else status
    reason, message = status.get("reason") or told.get("reason"), status.get("message") or told.get("message")
    if reason is None or reason == _OWN_DEADLINE:
        return None
    return _because(reason, message)


def _because(reason: object, message: object) -> str:
    """A reason with the message that somebody gave, if any, as far as there is room."""
    return f"{reason}: {first_bytes(one_line(str(message)), LONGEST_WORDS_BYTES)}" if message else str(reason)


def _last_words(text: str | None) -> str | None:
    """The end of what a container left, whole lines as far as there are any; logs have colours, conditions none."""
    every = unsteered("\n".join(line.expandtabs(4) for line in (text or "").splitlines())).strip()
    kept = last_bytes(every, LONGEST_WORDS_BYTES)
    whole = kept if len(kept) == len(every) else kept.partition("\n")[2] or kept
    return whole or None


def is_ready(document: Document) -> bool:
    """Whether the pod's condition Ready is true."""
    return _condition(document, "Ready").get("status") == "True"


def unschedulable(document: Document) -> str | None:
    """The scheduler's sentence when no node has room for the pod, None otherwise."""
    found = _condition(document, "PodScheduled")
    if found.get("status") != "False" or found.get("reason") != "Unschedulable":
        return None
    return one_line(str(found.get("message") or "the scheduler gives no reason"))


def _condition(document: Document, kind: str) -> Document:
    found = (document.get("status") or {}).get("conditions") or ()
    return next((one for one in found if one.get("type") == kind), {})


def trouble(document: Document) -> str | None:
    """What keeps a container from starting and will not pass by itself, in the kubelet's words; None for nothing."""
    return next(_troubles(document.get("status") or {}), None)


def _troubles(status: Document) -> Iterator[str]:
    for one in [*(status.get("initContainerStatuses") or ()), *(status.get("containerStatuses") or ())]:
        waiting = (one.get("state") or {}).get("waiting") or {}
        if waiting.get("reason") in _FATAL_WAITS:
            text = waiting.get("message") or "no message"
            yield one_line(f"container {one.get('name')}: {waiting['reason']}: {text}")


def seconds(text: str | None) -> float | None:
    """Seconds since 1970 of an RFC 3339 time, None for none."""
    return None if not text else datetime.datetime.fromisoformat(text).timestamp()


def rfc3339(at_s: float | None) -> str | None:
    """The time as Kubernetes writes it, whole seconds; None for none."""
    if at_s is None:
        return None
    return datetime.datetime.fromtimestamp(int(at_s), datetime.UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
