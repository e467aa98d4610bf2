"""What to do about the driver's pod: the job, the pod and the memory in, one decision out. Pure.

There is one pod name for each job, so two drivers never share a checkpoint: a new one can only be made once the old
one is gone for good.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.kube.driver import ends, overdue, regroup
from streamjob_operator.kube.driver.values import Action, Decision, DriverMemory, DriverPod, JobFacts, PodPhase
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.spec.quantities import format_duration

SOON_S = 2.0
STARTING_S = 5.0
STEADY_S = 60.0
DELETION_MARGIN_S = 30.0
"""A deletion waits for the pod's own grace and this much more, whatever the kubelet does."""


def decide(
    job: JobFacts,
    wanted_hash: str,
    pod: DriverPod | None,
    memory: DriverMemory,
    now_s: float,
    changing: DriverPod | None = None,
) -> Decision:
    """The next step towards what is wanted; `changing` is the pod that changes the number of key groups."""
    ending = next((one for one in (pod, changing) if one is not None and one.deleting), None)
    return overdue.told(_decided(job, wanted_hash, pod, memory, now_s, changing), ending, memory, now_s)


def _decided(
    job: JobFacts,
    wanted_hash: str,
    pod: DriverPod | None,
    memory: DriverMemory,
    now_s: float,
    changing: DriverPod | None,
) -> Decision:
    if not job.wanted:
        ending = _ending(job, pod, memory, now_s)
        if pod is None and changing is not None:
            return regroup.left(changing, ending.memory, ending.phase, ending.reason)
        return ending
    memory = regroup.begun(job, wanted_hash, memory) if pod is not None else memory
    if memory.change.step is not None:
        return regroup.step(job, pod, changing, memory, now_s)
    if pod is None:
        return _absent(job, wanted_hash, memory, now_s)
    return _present(job, wanted_hash, pod, memory, now_s)


def _present(job: JobFacts, wanted_hash: str, pod: DriverPod, memory: DriverMemory, now_s: float) -> Decision:
    if pod.deleting:
        sentence = f"The driver's pod {pod.name} stops between two batches, then its successor starts."
        return _wait(Phase.SUBMITTING, KubeReason.DRIVER_STOPPING, sentence, memory)
    if pod.application_hash != wanted_hash:
        sentence = "spec.application changed: the driver stops between two batches and starts from its checkpoint."
        return _stop(Phase.SUBMITTING, KubeReason.DRIVER_RESTARTING, sentence, _fresh(memory))
    if pod.ended:
        return _ended(job, pod, ends.count_end(job, pod, memory, now_s), now_s)
    return _alive(job, pod, memory, now_s)


def _ending(job: JobFacts, pod: DriverPod | None, memory: DriverMemory, now_s: float) -> Decision:
    """Suspended or deleted: no driver is wanted. A later resume starts afresh, so the memory is cleared."""
    fresh = _fresh(memory)
    reason = KubeReason.SUSPENDED if job.deleted_at_s is None else KubeReason.DRIVER_STOPPING
    if pod is None:
        return _rest(Phase.SUSPENDED, reason, "No driver is wanted, and none runs.", fresh, gone=True)
    if not pod.deleting:
        return _stop(Phase.SUSPENDED, KubeReason.DRIVER_STOPPING, "The driver stops between two batches.", fresh)
    overdue = job.deleted_at_s is not None and now_s > job.deleted_at_s + pod.grace_s + DELETION_MARGIN_S
    sentence = "The driver stops between two batches."
    if overdue:
        sentence = f"The driver's pod {pod.name} does not end in time; Kubernetes goes on to delete it."
    return dataclasses.replace(_wait(Phase.SUSPENDED, KubeReason.DRIVER_STOPPING, sentence, fresh), gone=overdue)


def _absent(job: JobFacts, wanted_hash: str, memory: DriverMemory, now_s: float) -> Decision:
    known = memory.application_hash == wanted_hash
    if known and memory.pod_uid is not None and memory.ended_uid != memory.pod_uid:
        # It was deleted by somebody else, or its node is gone.
        lasted_s = ends.lasted_s(memory.started_at_s, None, now_s)
        gone = dataclasses.replace(memory, exit_code=None, why=None, last_words=None)
        memory = ends.count(job, gone, memory.pod_uid, lasted_s, now_s)
    if known and memory.ended_uid is not None:
        if not ends.restarts(job, memory):
            return _over(job, memory, pod=None)
        memory = ends.waiting(job, memory, now_s)
        if memory.restart_at_s is not None and now_s < memory.restart_at_s:
            return _backing_off(memory, now_s)
    memory = dataclasses.replace(memory if known else _fresh(memory), application_hash=wanted_hash, restart_at_s=None)
    reason = KubeReason.DRIVER_STARTING
    return Decision(
        action=Action.CREATE,
        phase=Phase.SUBMITTING,
        reason=reason,
        sentence="The driver is started.",
        memory=memory,
        next_look_s=SOON_S,
    )


def _ended(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> Decision:
    if not ends.restarts(job, memory):
        return _over(job, memory, pod)
    memory = ends.waiting(job, memory, now_s)
    if memory.restart_at_s is not None and now_s < memory.restart_at_s:
        return _backing_off(memory, now_s)
    sentence = f"The ended driver's pod {pod.name} makes way for the next."
    return _stop(Phase.SUBMITTING, KubeReason.DRIVER_STARTING, sentence, memory)


def _alive(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> Decision:
    memory = dataclasses.replace(
        memory,
        pod_uid=pod.uid,
        application_hash=pod.application_hash,
        started_at_s=_seen_running_s(pod, memory, now_s),
        awaited_since_s=_awaited_since_s(pod, memory, now_s),
        restart_at_s=None,
    )
    if pod.phase is not PodPhase.RUNNING or not pod.ready:
        return _late(job, pod, memory, now_s) if _is_late(job, memory, now_s) else _starting(pod, memory)
    if memory.started_at_s is not None and now_s - memory.started_at_s >= ends.healthy_s(job):
        memory = dataclasses.replace(memory, restarts=0, own_ends=0, ended_uid=None)
    sentence = f"The driver runs in pod {pod.name}, and its agent answers."
    return _rest(Phase.RUNNING, KubeReason.DRIVER_RUNNING, sentence, memory, next_look_s=STEADY_S)


def _seen_running_s(pod: DriverPod, memory: DriverMemory, now_s: float) -> float | None:
    """When its container was seen running first: by our clock, which is what it is compared with."""
    if pod.started_at_s is None:
        return None
    return memory.started_at_s if memory.pod_uid == pod.uid and memory.started_at_s is not None else now_s


def _awaited_since_s(pod: DriverPod, memory: DriverMemory, now_s: float) -> float | None:
    """Since when this pod's first answer is waited for, by our clock; None once it has come."""
    if pod.ready:
        return None
    return memory.awaited_since_s if memory.pod_uid == pod.uid else now_s


def _is_late(job: JobFacts, memory: DriverMemory, now_s: float) -> bool:
    deadline_s = job.application.restart.start_deadline_s
    since_s = memory.awaited_since_s
    return deadline_s is not None and since_s is not None and now_s - since_s > deadline_s


def _late(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> Decision:
    memory = ends.count_late(job, pod, memory, now_s)
    sentence = f"{ends.how(memory)}; its pod {pod.name} is stopped."
    return _stop(Phase.SUBMITTING, KubeReason.DRIVER_LATE, sentence, memory)


def _starting(pod: DriverPod, memory: DriverMemory) -> Decision:
    if pod.unschedulable is not None:
        sentence = f"No node has room for the driver's pod {pod.name}: {pod.unschedulable}"
        return _wait(Phase.SUBMITTING, KubeReason.DRIVER_UNSCHEDULABLE, sentence, memory, STARTING_S)
    if pod.trouble is not None:
        sentence = f"The driver's pod {pod.name} does not start: {pod.trouble}"
        return dataclasses.replace(
            _wait(Phase.SUBMITTING, KubeReason.DRIVER_STARTING, sentence, memory, STARTING_S), stalled=True
        )
    what = "its agent does not answer yet" if pod.phase is PodPhase.RUNNING else "it is not running yet"
    sentence = f"The driver's pod {pod.name} was made; {what}."
    return _wait(Phase.SUBMITTING, KubeReason.DRIVER_STARTING, sentence, memory, STARTING_S)


def _over(job: JobFacts, memory: DriverMemory, pod: DriverPod | None) -> Decision:
    memory = dataclasses.replace(memory, restart_at_s=None)
    reason, why = KubeReason.DRIVER_FAILED, "restart.policy does not start it again"
    if ends.exhausted(job, memory):
        reason, why = KubeReason.RESTARTS_EXHAUSTED, f"restart.maxRestarts is {job.application.restart.max_restarts}"
        why += ": it is not started again"
    elif memory.exit_code == 0:
        sentence = f"The driver ended in order, and {why}."
        return _rest(Phase.FAILED, KubeReason.DRIVER_ENDED, sentence, memory, stalled=True)
    more = "" if pod is None else f" Pod {pod.name} is kept, and its log says more."
    sentence = f"{ends.how(memory)}, and {why}.{more}{ends.said(memory)}"
    return _rest(Phase.FAILED, reason, sentence, memory, stalled=True)


def _backing_off(memory: DriverMemory, now_s: float) -> Decision:
    left_s = max(0.0, (memory.restart_at_s or now_s) - now_s)
    wait = format_duration(max(1.0, round(left_s)))
    sentence = f"{ends.how(memory)}; restart {memory.restarts} follows in {wait}.{ends.said(memory)}"
    return _wait(Phase.FAILED, KubeReason.DRIVER_BACKOFF, sentence, memory, max(0.1, left_s))


def _fresh(memory: DriverMemory) -> DriverMemory:
    """Nothing is counted any more; what is known of the last end stays to be read, and what is done to the state."""
    return DriverMemory(exit_code=memory.exit_code, why=memory.why, last_words=memory.last_words, change=memory.change)


def _wait(
    phase: Phase, reason: KubeReason, sentence: str, memory: DriverMemory, next_look_s: float = SOON_S
) -> Decision:
    return _rest(phase, reason, sentence, memory, next_look_s=next_look_s)


def _stop(phase: Phase, reason: KubeReason, sentence: str, memory: DriverMemory) -> Decision:
    waiting = _wait(phase, reason, sentence, memory)
    return dataclasses.replace(waiting, action=Action.STOP)


def _rest(
    phase: Phase,
    reason: KubeReason,
    sentence: str,
    memory: DriverMemory,
    *,
    next_look_s: float | None = None,
    stalled: bool = False,
    gone: bool = False,
) -> Decision:
    return Decision(
        action=Action.NOTHING,
        phase=phase,
        reason=reason,
        sentence=sentence,
        memory=memory,
        next_look_s=next_look_s,
        stalled=stalled,
        gone=gone,
    )
