"""Executors' pods that no node ends any more: a node that is gone leaves them in the API for ever, Spark counts them as
running, and nobody starts another executor.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.api.refusals import Conflict
from streamjob_operator.kube.driver.overdue import SILENT_S
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.kube.pods.executors import ExecutorPods, LeavingPod
from streamjob_operator.kube.report.events import Events, Telling

Since = Mapping[str, float]
"""Uid of a pod -> when it was first seen to be ending, seconds since the epoch by our clock: the API server's may be
another one."""


def leaving_since(found: ExecutorPods, before: Since, now_s: float) -> Since:
    """What was known before, with the pods that are ending now and without those that have gone. Pure."""
    return {pod.uid: before.get(pod.uid, now_s) for pod in found.leaving}


def let_go(api: KubeApi, events: Events, found: ExecutorPods, since: Since, now_s: float) -> tuple[str, ...]:
    """Take pods whose end is overdue out of the API; their names. Raises Refused, Unavailable.

    Only executors': one that runs on unseen commits nothing, since the driver has dropped it. A second driver would.
    """
    overdue = [pod for pod in found.leaving if now_s > since[pod.uid] + pod.grace_s + SILENT_S]
    for pod in overdue:
        events.mention(pod.regarding, _telling(pod), now_s)
        with contextlib.suppress(Conflict):  # another one of that name by now
            api.delete(PODS, pod.name, pod.namespace, uid=pod.uid, grace_s=0)
    return tuple(pod.name for pod in overdue)


def _telling(pod: LeavingPod) -> Telling:
    note = f"The pod of executor {pod.executor_id} was to end and its node does not answer; Spark starts another one."
    return Telling(reason=KubeReason.NODE_SILENT.value, note=note, action="Delete", warning=True)
