"""Makes, watches and stops one job's driver on the cluster: reads, lets `decide` think, does one thing, and tells."""

from __future__ import annotations

import contextlib
import dataclasses

from streamjob_operator.kube.api.children import FormerLife, apply_child, require_ours
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS, STREAM_JOBS, Kind
from streamjob_operator.kube.api.owners import Belongs, whose
from streamjob_operator.kube.api.refusals import Conflict, NotFound, Refused
from streamjob_operator.kube.driver import naming, regroup, settings, sharing, support
from streamjob_operator.kube.driver.decide import SOON_S, STEADY_S, decide
from streamjob_operator.kube.driver.monitoring import KINDS, monitor
from streamjob_operator.kube.driver.observe import driver_pod
from streamjob_operator.kube.driver.pod import application_hash, driver_manifest, mistakes, trials
from streamjob_operator.kube.driver.regroup_pod import change_manifest
from streamjob_operator.kube.driver.values import Action, Decision, DriverMemory, DriverPod, DriverState, JobFacts
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.kube.partition_map.maps import Maps
from streamjob_operator.ports import Unavailable

_WRONG = (400, 422)
"""Answers to an object that is wrong in itself."""
_FOR_GOOD = (*_WRONG, 403)
_POLICIES = ("admission webhook ", "ValidatingAdmissionPolicy ")
"""Who says no in these words is a rule of the cluster: the object may be right in itself, and the rule may change,
though the answer's number is often that of a wrong object."""
_UNTRIED = ("does not support dry run", "error looking up service account")
"""Words of refusals that speak of the trial alone: a webhook cannot be tried, the account is about to be made."""
_PASSES = ("exceeded quota", *_UNTRIED)
"""Words of refusals that say nothing about the template: room may come, besides."""


def reconcile_driver(
    api: KubeApi, job: JobFacts, memory: DriverMemory, now_s: float, *, repair: bool = False
) -> DriverState:
    """One step towards the wanted driver. Raises Unavailable when the API server does not answer, and Conflict where
    somebody else was faster: the next step sees what he did.

    `repair` applies what stands around a running driver again, against drift: for the first look after the operator's
    start, after a change of the spec, and now and then.
    """
    found = mistakes(job) if job.wanted else ()
    if found:
        return _failed(job, None, memory, KubeReason.INVALID_SPEC, " ".join(found))
    pod, decision = None, None
    try:
        pod, changing = _look(api, job), _look_at_change(api, job, memory)
        decision = _alone(api, job, memory, decide(job, application_hash(job), pod, memory, now_s, changing))
        lacking = _do(api, job, pod, decision, repair)
    except FormerLife as former:
        return _state(pod, _waiting(job, memory, str(former)), ())
    except Conflict:
        raise
    except Refused as refusal:
        if decision is not None and decision.action is Action.CHANGE:  # the driver is to run again, not to wait for it
            change = regroup.refused(decision.memory.change, str(refusal))
            decision = dataclasses.replace(decision, memory=DriverMemory(change=change))
            return _state(pod, decision, ())
        reason = KubeReason.INVALID_SPEC if _is_wrong(refusal) else KubeReason.DRIVER_REFUSED
        return _failed(job, pod, memory, reason, str(refusal))
    return dataclasses.replace(_state(pod, decision, settings.merged(job)[1]), lacking=lacking)


def _alone(api: KubeApi, job: JobFacts, memory: DriverMemory, decision: Decision) -> Decision:
    """No driver is made beside another one on the same checkpoint."""
    if decision.action is not Action.CREATE or not sharing.has_address(job):
        return decision
    other = sharing.holder(job, api.list(STREAM_JOBS, job.namespace), lambda name: _has_pod(api, name, job.namespace))
    return decision if other is None else sharing.waiting(other, memory)


def _has_pod(api: KubeApi, name: str, namespace: str) -> bool:
    """Whether that StreamJob has a driver's pod, or one that changes key groups."""
    pods = (naming.driver_name(name), naming.change_name(name))
    return any(api.get(PODS, one, namespace) is not None for one in pods)


def _is_wrong(refusal: Refused) -> bool:
    """Whether what was refused can never be taken, whatever room or rules there are."""
    return refusal.status in _WRONG and not any(word in refusal.message for word in _POLICIES)


def _look(api: KubeApi, job: JobFacts) -> DriverPod | None:
    return _pod(api, job, naming.driver_name(job.name))


def _look_at_change(api: KubeApi, job: JobFacts, memory: DriverMemory) -> DriverPod | None:
    """The pod that changes the number of key groups; nobody looks for it while there is no such change."""
    return None if memory.change.step is None else _pod(api, job, naming.change_name(job.name))


def _pod(api: KubeApi, job: JobFacts, name: str) -> DriverPod | None:
    """The pod of that name; raises NotOurs, FormerLife, Unavailable. One that lost its owner is of a former life, and
    nobody else would end it: it may be a driver that a backup's tool has started, with our checkpoint."""
    document = api.get(PODS, name, job.namespace)
    if document is None:
        return None
    if whose(document, job.owner) is Belongs.LOST:
        if not document["metadata"].get("deletionTimestamp"):
            api.delete(PODS, name, job.namespace, uid=document["metadata"]["uid"])
        raise FormerLife(PODS, name)
    require_ours(document, job.owner, PODS)
    return driver_pod(document)


def _do(api: KubeApi, job: JobFacts, pod: DriverPod | None, decision: Decision, repair: bool) -> tuple[str, ...] | None:
    """What could not be made around the driver, None where that was not tried."""
    create = decision.action is Action.CREATE
    if create or decision.reason is KubeReason.DRIVER_RESTARTING:
        _try_pods(api, job)  # before a driver that runs is stopped for one that cannot be made
    if decision.action is Action.STOP and pod is not None:
        api.delete(PODS, pod.name, job.namespace, uid=pod.uid)
    if decision.action is Action.STOP_CHANGE:
        api.delete(PODS, naming.change_name(job.name), job.namespace)
    if not create and decision.action is not Action.CHANGE:
        return _repaired(api, job) if repair and job.wanted else None
    lacking = apply_support(api, job)
    # A pod of that name was made by a call whose answer was lost, or by somebody else: the next look says.
    with contextlib.suppress(Conflict):
        api.create(PODS, driver_manifest(job) if create else change_manifest(job, decision.memory.change))
    return lacking


def _repaired(api: KubeApi, job: JobFacts) -> tuple[str, ...]:
    """A driver that is there needs none of it at this moment: what is refused is told, and tried again later."""
    try:
        return apply_support(api, job)
    except Refused as refusal:
        return (f"What stands around the driver was not made anew: {refusal}",)


def _try_pods(api: KubeApi, job: JobFacts) -> None:
    """Raises Refused when the API server would not take the driver's pod, or one that Spark makes of the executors'.

    What passes is no reason: the pods are asked for again.
    """
    for what, manifest in trials(job):
        try:
            api.create(PODS, manifest, dry_run=True)
        except Refused as refusal:
            if refusal.status in _FOR_GOOD and not any(word in refusal.message for word in _PASSES):
                raise Refused(refusal.status, refusal.reason, f"{what}: its pod is refused: {refusal}") from refusal


def executor_refusal(api: KubeApi, job: JobFacts) -> str | None:
    """Why the API server would take no executor's pod at this moment, such as a quota that is used up; None where it
    would, or where that cannot be tried. Spark makes these pods, and only its log has such words."""
    _, (_, manifest) = trials(job)
    try:
        api.create(PODS, manifest, dry_run=True)
    except (Refused, Unavailable) as refusal:
        return None if any(word in str(refusal) for word in _UNTRIED) else str(refusal)
    return None


def apply_support(api: KubeApi, job: JobFacts) -> tuple[str, ...]:
    """Everything that must be there before the driver's pod; sentences about what could not be made.

    Raises Refused, Unavailable and their kinds. Fields that others added to these objects stay.
    """
    for kind, manifest in support.manifests(job):
        apply_child(api, job.owner, kind, manifest)
    Maps(api, job.owner).ensure()
    return _apply_monitor(api, job)


def _apply_monitor(api: KubeApi, job: JobFacts) -> tuple[str, ...]:
    """The monitor that is asked for, in the place of any other: two would scrape twice."""
    wanted = monitor(job.owner, job.monitoring, job.spec.balancing.statistics_period_s)
    try:
        for kind in KINDS.values():
            if wanted is None or kind is not wanted[0]:
                _remove_monitor(api, job, kind)
        if wanted is not None:
            apply_child(api, job.owner, *wanted)
    except NotFound:  # no Prometheus operator on this cluster
        return ()
    except Refused as refusal:
        return (f"The {job.monitoring.monitor} was not made: {refusal}",)
    return ()


def _remove_monitor(api: KubeApi, job: JobFacts, kind: Kind) -> None:
    there = api.get(kind, naming.driver_name(job.name), job.namespace)
    if there is not None and whose(there, job.owner) in (Belongs.OURS, Belongs.LOST):
        api.delete(kind, there["metadata"]["name"], job.namespace, uid=there["metadata"]["uid"])


def _state(pod: DriverPod | None, decision: Decision, notes: tuple[str, ...]) -> DriverState:
    return DriverState(
        phase=decision.phase,
        reason=decision.reason,
        sentence=decision.sentence,
        ready=decision.reason is KubeReason.DRIVER_RUNNING,
        pod=None if pod is None else pod.name,
        address=None if pod is None else pod.address,
        notes=notes,
        memory=decision.memory,
        next_look_s=decision.next_look_s,
        stalled=decision.stalled,
        gone=decision.gone,
    )


def _waiting(job: JobFacts, memory: DriverMemory, sentence: str) -> Decision:
    """What a former life has left goes first, the driver's pod above all: two drivers never share a checkpoint."""
    return Decision(
        action=Action.NOTHING,
        phase=Phase.PENDING,
        reason=KubeReason.DRIVER_STARTING,
        sentence=sentence,
        memory=memory,
        next_look_s=SOON_S,
        gone=job.deleted_at_s is not None,
    )


def _failed(
    job: JobFacts, pod: DriverPod | None, memory: DriverMemory, reason: KubeReason, sentence: str
) -> DriverState:
    """What only a person can mend. A running driver is left as it is; a deletion is not held up by it."""
    decision = Decision(
        action=Action.NOTHING,
        phase=Phase.FAILED,
        reason=reason,
        sentence=sentence,
        memory=memory,
        next_look_s=STEADY_S,
        stalled=True,
        gone=job.deleted_at_s is not None,
    )
    return dataclasses.replace(_state(pod, decision, ()), ready=False)
