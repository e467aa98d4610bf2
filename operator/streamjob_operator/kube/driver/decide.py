"""What to do about the driver's pod: the job, the pod and the memory in, one decision out. Pure.

There is one pod name for each job, so two drivers never share a checkpoint: a new one can only be made once the old
one is gone for good.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.kube.driver.values import Action, Decision, DriverMemory, DriverPod, JobFacts, PodPhase
from streamjob_operator.kube.names import KubeReason, Phase
from streamjob_operator.spec import RestartPolicy
from streamjob_operator.spec.quantities import format_duration

SOON_S = 2.0
STARTING_S = 5.0
STEADY_S = 60.0
OOM_KILLED = "OOMKilled"
DELETION_MARGIN_S = 30.0
"""A deletion waits for the pod's own grace and this much more, whatever the kubelet does."""


def decide(job: JobFacts, wanted_hash: str, pod: DriverPod | None, memory: DriverMemory, now_s: float) -> Decision:
    """The next step towards what is wanted."""
    if not job.wanted:
        return _ending(job, pod, memory, now_s)
    if pod is None:
        return _absent(job, wanted_hash, memory, now_s)
    if pod.deleting:
        sentence = f"The driver's pod {pod.name} stops between two batches, then its successor starts."
        return _wait(Phase.SUBMITTING, KubeReason.DRIVER_STOPPING, sentence, memory)
    if pod.application_hash != wanted_hash:
        sentence = "spec.application changed: the driver stops between two batches and starts from its checkpoint."
        return _stop(Phase.SUBMITTING, KubeReason.DRIVER_RESTARTING, sentence, _fresh(memory))
    if pod.ended:
        return _ended(job, pod, _count_end(job, pod, memory, now_s), now_s)
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
        lasted_s = _lasted_s(memory.started_at_s, None, now_s)
        gone = dataclasses.replace(memory, exit_code=None, why=None, last_words=None)
        memory = _count(job, gone, memory.pod_uid, lasted_s, now_s)
    if known and memory.ended_uid is not None:
        if not _restarts(job, memory.exit_code):
            return _over(memory, pod=None)
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
    if not _restarts(job, memory.exit_code):
        return _over(memory, pod)
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
        restart_at_s=None,
    )
    if pod.phase is not PodPhase.RUNNING or not pod.ready:
        return _starting(pod, memory)
    if memory.started_at_s is not None and now_s - memory.started_at_s >= _healthy_s(job):
        memory = dataclasses.replace(memory, restarts=0, ended_uid=None)
    sentence = f"The driver runs in pod {pod.name}, and its agent answers."
    return _rest(Phase.RUNNING, KubeReason.DRIVER_RUNNING, sentence, memory, next_look_s=STEADY_S)


def _seen_running_s(pod: DriverPod, memory: DriverMemory, now_s: float) -> float | None:
    """When its container was seen running first: by our clock, which is what it is compared with."""
    if pod.started_at_s is None:
        return None
    return memory.started_at_s if memory.pod_uid == pod.uid and memory.started_at_s is not None else now_s


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


def _count_end(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> DriverMemory:
    if memory.ended_uid == pod.uid:
        return memory
    seen = dataclasses.replace(
        memory,
        application_hash=pod.application_hash,
        started_at_s=pod.started_at_s,
        exit_code=_own_exit_code(pod),
        why=pod.why,
        last_words=pod.last_words,
    )
    return _count(job, seen, pod.uid, _lasted_s(pod.started_at_s, pod.ended_at_s, now_s), now_s)


def _own_exit_code(pod: DriverPod) -> int | None:
    """None where the driver did not end by itself: an eviction kills its process, too."""
    if pod.disrupted:
        return None
    return 0 if pod.exit_code is None and pod.phase is PodPhase.SUCCEEDED else pod.exit_code


def _lasted_s(started_at_s: float | None, ended_at_s: float | None, now_s: float) -> float:
    """How long a driver ran; both times by its node's clock where that has told them."""
    return 0.0 if started_at_s is None else (now_s if ended_at_s is None else ended_at_s) - started_at_s


def _count(job: JobFacts, memory: DriverMemory, uid: str, lasted_s: float, now_s: float) -> DriverMemory:
    """One end more: the wait doubles from `initial` to `max`, and starts over after a healthy time.

    It begins when the end is seen, so that the node's clock has no say in it.
    """
    backoff = job.application.restart.backoff
    before = 0 if lasted_s >= _healthy_s(job) else memory.restarts
    wait_s = min(backoff.max_s, backoff.initial_s * 2.0 ** min(before, 30))
    return dataclasses.replace(
        memory,
        pod_uid=uid,
        ended_uid=uid,
        restarts=before + 1,
        restart_at_s=now_s + wait_s,
    )


def _healthy_s(job: JobFacts) -> float:
    """A driver that ran for longer than the longest wait did not fail because of how it was started."""
    return job.application.restart.backoff.max_s


def _restarts(job: JobFacts, exit_code: int | None) -> bool:
    """A driver that did not end by itself is always started again: a drained node is no end of a job."""
    policy = job.application.restart.policy or RestartPolicy.ALWAYS
    return (
        exit_code is None or policy is RestartPolicy.ALWAYS or (policy is RestartPolicy.ON_FAILURE and exit_code != 0)
    )


def _over(memory: DriverMemory, pod: DriverPod | None) -> Decision:
    if memory.exit_code == 0:
        sentence = "The driver ended in order, and restart.policy does not start it again."
        return _rest(Phase.FAILED, KubeReason.DRIVER_ENDED, sentence, memory, stalled=True)
    more = "" if pod is None else f" Pod {pod.name} is kept, and its log says more."
    sentence = f"{_how(memory)}, and restart.policy does not start it again.{more}{_said(memory)}"
    return _rest(Phase.FAILED, KubeReason.DRIVER_FAILED, sentence, memory, stalled=True)


def _backing_off(memory: DriverMemory, now_s: float) -> Decision:
    left_s = max(0.0, (memory.restart_at_s or now_s) - now_s)
    wait = format_duration(max(1.0, round(left_s)))
    sentence = f"{_how(memory)}; restart {memory.restarts} follows in {wait}.{_said(memory)}"
    return _wait(Phase.FAILED, KubeReason.DRIVER_BACKOFF, sentence, memory, max(0.1, left_s))


def _how(memory: DriverMemory) -> str:
    why = "" if memory.why is None else f" ({memory.why})"
    if memory.exit_code is None:
        return f"The driver's pod was taken away, or ended without an exit code{why}"
    hint = ", its container needs more memory: raise application.driver.memory" if memory.why == OOM_KILLED else ""
    return f"The driver ended with exit code {memory.exit_code}{why}{hint}"


def _said(memory: DriverMemory) -> str:
    return "" if memory.last_words is None else f" It said last: {memory.last_words}"


def _fresh(memory: DriverMemory) -> DriverMemory:
    """Nothing is counted any more; what is known of the last end stays to be read."""
    return DriverMemory(exit_code=memory.exit_code, why=memory.why, last_words=memory.last_words)


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
