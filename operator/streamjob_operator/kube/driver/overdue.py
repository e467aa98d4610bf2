"""Pods that were to end and have not: nothing may be started beside them, so a person hears of it. Pure."""

from __future__ import annotations

import dataclasses

from streamjob_operator.kube.driver.observe import rfc3339
from streamjob_operator.kube.driver.values import Decision, DriverMemory, DriverPod
from streamjob_operator.kube.names import KubeReason

SILENT_S = 60.0
"""A kubelet ends a pod once its grace is over. After so much more there is none, or somebody holds the pod."""
LOOK_S = 60.0


def told(decision: Decision, ending: DriverPod | None, before: DriverMemory, now_s: float) -> Decision:
    """The decision, with since when the pod that is `ending` is waited for, and a sentence once that is too long."""
    if ending is None:
        return dataclasses.replace(decision, memory=dataclasses.replace(decision.memory, ending_since_s=None))
    since_s = now_s if before.ending_since_s is None else before.ending_since_s
    decision = dataclasses.replace(decision, memory=dataclasses.replace(decision.memory, ending_since_s=since_s))
    if now_s <= since_s + ending.grace_s + SILENT_S:
        return decision
    by = rfc3339(since_s + ending.grace_s)
    sentence = (
        f"The pod {ending.name} was to end by {by} and is still there: its node does not answer, or a finalizer holds "
        "it. Nothing is started beside it. Once its node is surely off, "
        f"`kubectl delete pod {ending.name} --force` takes it away."
    )
    return dataclasses.replace(
        decision, reason=KubeReason.DRIVER_NOT_ENDING, sentence=sentence, stalled=True, next_look_s=LOOK_S
    )
