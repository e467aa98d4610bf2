"""Another number of key groups between two lives of the driver: the pods and the memory in, one decision out. Pure.

The driver's pod goes first; then a pod of the driver's image changes the checkpoint, or sends it back where the first
one was killed; once that pod is gone the driver starts, whatever came of it. The operation leaves a checkpoint that is
right or starts no driver (decision 0068), so each step may be done twice.
"""

from __future__ import annotations

import dataclasses

from streamjob_operator.key_groups import REFUSED
from streamjob_operator.kube.driver.values import Action, Change, Decision, DriverMemory, DriverPod, JobFacts, Step
from streamjob_operator.kube.names import KubeReason, Phase

SOON_S = 2.0
START_DEADLINE_S = 300.0
"""Time for the operation's pod to begin: the driver's own had room, and must not stand still for want of another."""
UNDO = "undo"


def begun(job: JobFacts, wanted_hash: str, memory: DriverMemory) -> DriverMemory:
    """The memory with the change that is wanted and was not tried; or without one that nobody asks for any more."""
    change = memory.change
    if change.step is not None:
        return memory
    if not job.key_groups_asked:
        return memory if change == Change() else dataclasses.replace(memory, change=Change())
    token = f"{job.key_groups}:{wanted_hash}"
    if job.key_groups is None or change.tried == token:
        return memory
    # No end of a driver is counted that is stopped for this.
    return DriverMemory(change=Change(step=Step.CHANGE, wanted=job.key_groups, tried=token))


def made(before: Change, after: Change) -> int | None:
    """How many key groups there are, where a change has just come to its end; None where none has, or it failed.

    Nothing has measured them yet: an edit of the application in between would have it done once more.
    """
    return before.wanted if before.step is Step.END and after.step is None and after.failure is None else None


def purpose(change: Change) -> str:
    """What the operation's pod is for, as its annotation says."""
    return UNDO if change.step is Step.UNDO else f"key-groups-{change.wanted}"


def step(
    job: JobFacts, driver: DriverPod | None, pod: DriverPod | None, memory: DriverMemory, now_s: float
) -> Decision:
    """The next step; `pod` is the operation's."""
    change = memory.change
    if driver is not None:
        action = Action.NOTHING if driver.deleting else Action.STOP
        return _decision(change, action, "The driver stops between two batches; then its key groups are changed.")
    if change.step is Step.END:
        return _ending(change, pod)
    if pod is None:
        return _without(change, job.application.checkpoint)
    if pod.deleting or pod.application_hash != purpose(change):
        action = Action.NOTHING if pod.deleting else Action.STOP_CHANGE
        return _decision(change, action, f"The pod {pod.name} makes way for the next.")
    change = dataclasses.replace(change, pod_uid=pod.uid, since_s=change.since_s or now_s)
    return _ended(change, pod) if pod.ended else _under_way(change, pod, now_s)


def left(pod: DriverPod, memory: DriverMemory, phase: Phase, reason: KubeReason) -> Decision:
    """No driver is wanted any more. The operation is asked to end: it gives up, or does what must not be broken off."""
    change = dataclasses.replace(memory.change, pod_uid=None)
    action = Action.NOTHING if pod.deleting else Action.STOP_CHANGE
    decision = _decision(change, action, f"The pod {pod.name}, which changes key groups, is asked to end.")
    return dataclasses.replace(decision, phase=phase, reason=reason)


def refused(change: Change, sentence: str) -> Change:
    """Its pod cannot be made."""
    return _over(change, f"Its pod was refused: {sentence}")


def _without(change: Change, checkpoint: str | None) -> Decision:
    if checkpoint is None:  # a person has taken it out of the spec meanwhile: no pod could be made, and no driver came
        why = "application.checkpoint is not there any more, so nothing can be done to it."
        return _decision(_over(change, f"{change.failure or ''} {why}".strip()), Action.NOTHING, why)
    if change.pod_uid is None:
        what = "sent back" if change.step is Step.UNDO else f"spread over {change.wanted} key groups"
        return _decision(change, Action.CHANGE, f"The state of the stopped query is {what}.")
    return _broken(change, "Its pod was taken away.")


def _under_way(change: Change, pod: DriverPod, now_s: float) -> Decision:
    what = "sends the checkpoint back" if change.step is Step.UNDO else f"makes {change.wanted} key groups"
    if pod.started_at_s is not None:
        return _decision(change, Action.NOTHING, f"The pod {pod.name} {what}; its log says how far it is.")
    trouble = pod.unschedulable or pod.trouble
    if now_s - (change.since_s or now_s) > START_DEADLINE_S:
        return _decision(_over(change, f"Its pod did not begin: {trouble or 'nobody says why'}."), Action.NOTHING, "")
    return _decision(change, Action.NOTHING, f"The pod {pod.name}, which {what}, does not run yet. {trouble or ''}")


def _ended(change: Change, pod: DriverPod) -> Decision:
    code = None if pod.disrupted else 0 if pod.phase == "Succeeded" else pod.exit_code
    words = pod.last_words or "It said nothing."
    if code == 0:
        sentence = "The driver is started again."
        return _decision(_over(change, change.failure), Action.NOTHING, sentence)
    if code == REFUSED and change.step is Step.CHANGE:
        return _decision(_over(change, words), Action.NOTHING, words)
    return _broken(change, f"Its pod ended with exit code {pod.exit_code} ({pod.why or 'no reason'}): {words}")


def _broken(change: Change, why: str) -> Decision:
    """It did not come to its end: nobody knows how far it came, so the checkpoint is sent back, once."""
    if change.step is Step.UNDO:
        why = f"{change.failure} It could not be sent back either: {why}"
        return _decision(_over(change, why), Action.NOTHING, why)
    undo = dataclasses.replace(change, step=Step.UNDO, pod_uid=None, since_s=None, failure=why)
    return _decision(undo, Action.NOTHING, f"{why} The checkpoint is sent back.")


def _ending(change: Change, pod: DriverPod | None) -> Decision:
    """What came of it is remembered; its pod goes, then the driver starts."""
    if pod is not None:
        return _decision(change, Action.NOTHING if pod.deleting else Action.STOP_CHANGE, f"The pod {pod.name} goes.")
    done = Change(tried=change.tried, failure=change.failure)
    return _decision(done, Action.NOTHING, "The driver is started again.")


def _over(change: Change, failure: str | None) -> Change:
    return dataclasses.replace(change, step=Step.END, failure=failure)


def _decision(change: Change, action: Action, sentence: str) -> Decision:
    return Decision(
        action=action,
        phase=Phase.SUBMITTING,
        reason=KubeReason.KEY_GROUPS_CHANGING,
        sentence=sentence.strip() or "The driver is started again.",
        memory=DriverMemory(change=change),
        next_look_s=SOON_S,
    )
