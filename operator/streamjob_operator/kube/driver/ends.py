"""Ends of drivers: how each came about, how many there were in a row, whether another start follows. Pure."""

from __future__ import annotations

import dataclasses

from streamjob_operator.kube.driver.values import DriverMemory, DriverPod, JobFacts, PodPhase
from streamjob_operator.spec import RestartPolicy

OOM_KILLED = "OOMKilled"
LATE = "StartDeadline"
"""What `DriverMemory.why` begins with when the operator itself ended a pod, because it was not ready in time."""


def count_end(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> DriverMemory:
    """The memory once the pod's end was counted; a pod's end counts once."""
    if memory.ended_uid == pod.uid:
        return memory
    started_at_s, ended_at_s = pod.started_at_s, pod.ended_at_s
    if started_at_s is None and memory.pod_uid == pod.uid:  # a node that lost it tells neither any more
        started_at_s, ended_at_s = memory.started_at_s, None
    seen = dataclasses.replace(
        memory,
        application_hash=pod.application_hash,
        started_at_s=started_at_s,
        exit_code=_own_exit_code(pod),
        why=pod.why,
        last_words=pod.last_words,
    )
    return count(job, seen, pod.uid, lasted_s(started_at_s, ended_at_s, now_s), now_s)


def count_late(job: JobFacts, pod: DriverPod, memory: DriverMemory, now_s: float) -> DriverMemory:
    """The memory once a pod that was not ready in time was counted as an end; it counts once."""
    if memory.ended_uid == pod.uid:
        return memory
    what = pod.unschedulable or pod.trouble
    why = LATE if what is None else f"{LATE}: {what}"
    return count(job, dataclasses.replace(memory, exit_code=None, why=why, last_words=None), pod.uid, 0.0, now_s)


def count(job: JobFacts, memory: DriverMemory, uid: str, ran_s: float, now_s: float) -> DriverMemory:
    """One end more: the wait doubles from `initial` to `max`, and starts over after a healthy time.

    It begins when the end is seen, so that the node's clock has no say in it.
    """
    healthy = ran_s >= healthy_s(job)
    before = 0 if healthy else memory.restarts
    return dataclasses.replace(
        memory,
        pod_uid=uid,
        ended_uid=uid,
        restarts=before + 1,
        own_ends=(0 if healthy else memory.own_ends) + _own_end(memory),
        restart_at_s=now_s + job.application.restart.backoff.wait_s(before),
    )


def waiting(job: JobFacts, memory: DriverMemory, now_s: float) -> DriverMemory:
    """The memory with a wait that is no longer than the spec has it now, by our clock.

    The spec may have been edited meanwhile, and an operator on another node may have had another clock.
    """
    if memory.restart_at_s is None:
        return memory
    longest_s = job.application.restart.backoff.wait_s(max(0, memory.restarts - 1))
    return dataclasses.replace(memory, restart_at_s=min(memory.restart_at_s, now_s + longest_s))


def restarts(job: JobFacts, memory: DriverMemory) -> bool:
    """Whether a driver that ended so is started again.

    One that did not end by itself always is: a drained node is no end of a job.
    """
    if not _own_end(memory):
        return True
    policy = job.application.restart.policy or RestartPolicy.ALWAYS
    wanted = policy is RestartPolicy.ALWAYS or (policy is RestartPolicy.ON_FAILURE and memory.exit_code != 0)
    return wanted and not exhausted(job, memory)


def exhausted(job: JobFacts, memory: DriverMemory) -> bool:
    """Whether it has had its most restarts in a row."""
    most = job.application.restart.max_restarts
    return most is not None and _own_end(memory) and memory.own_ends > most


def how(memory: DriverMemory) -> str:
    """How the last one ended: a sentence without its full stop."""
    if memory.why is not None and memory.why.startswith(LATE):
        return f"The driver was not ready within restart.startDeadline{memory.why.removeprefix(LATE)}"
    why = "" if memory.why is None else f" ({memory.why})"
    if memory.exit_code is None:
        return f"The driver's pod was taken away, or ended without an exit code{why}"
    hint = ", its container needs more memory: raise application.driver.memory" if memory.why == OOM_KILLED else ""
    return f"The driver ended with exit code {memory.exit_code}{why}{hint}"


def said(memory: DriverMemory) -> str:
    """A sentence with its last words, nothing where there are none."""
    return "" if memory.last_words is None else f" It said last: {memory.last_words}"


def healthy_s(job: JobFacts) -> float:
    """A driver that ran for longer than the longest wait did not fail because of how it was started."""
    return job.application.restart.backoff.max_s


def lasted_s(started_at_s: float | None, ended_at_s: float | None, now_s: float) -> float:
    """How long a driver ran; both times by its node's clock where that has told them."""
    return 0.0 if started_at_s is None else (now_s if ended_at_s is None else ended_at_s) - started_at_s


def _own_exit_code(pod: DriverPod) -> int | None:
    """None where the driver did not end by itself: an eviction kills its process, too."""
    if pod.disrupted:
        return None
    return 0 if pod.exit_code is None and pod.phase is PodPhase.SUCCEEDED else pod.exit_code


def _own_end(memory: DriverMemory) -> bool:
    """Whether the last end was the driver's own doing; one that never got ready counts as that."""
    return memory.exit_code is not None or (memory.why or "").startswith(LATE)
