"""Marks on executors' pods: which are to be emptied, for people, tools, and whoever must delete a pod."""

from __future__ import annotations

from collections.abc import Collection

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.api.refusals import NotFound
from streamjob_operator.kube.names import DRAINING_DELETION_COST, POD_DELETION_COST, KubeReason, Label
from streamjob_operator.kube.pods.executors import MARK, ExecutorPod, ExecutorPods
from streamjob_operator.kube.report.events import Events, Telling
from streamjob_operator.values import LIVE_STATES


def keep_marks(found: ExecutorPods, agent: AgentStatus, remove: Collection[str]) -> tuple[str, ...]:
    """Marked executors that are on their way out: `remove` was ordered, or the agent has them no more.

    Spark forgets an executor seconds before its pod ends. A mark that was taken off in between would say that the
    executor stays.
    """
    here = {one.executor_id for one in agent.executors if one.state in LIVE_STATES} - set(remove)
    return tuple(pod.executor_id for pod in found.pods if pod.marked and pod.executor_id not in here)


def mark_pods(
    api: KubeApi, events: Events, found: ExecutorPods, marked: Collection[str], now_s: float
) -> tuple[str, ...]:
    """Make exactly the pods of the `marked` executors carry the mark; names of the pods that were changed.

    The mark is a label, for people and tools, and a deletion cost, so that whoever must delete a pod takes one that is
    being emptied. Each change is an event on the pod. A pod that has gone in the meantime is no error. Raises Refused,
    Unavailable.
    """
    changed = [pod for pod in found.pods if pod.marked != (pod.executor_id in marked)]
    return tuple(pod.name for pod in changed if _turn(api, events, pod, now_s))


def _turn(api: KubeApi, events: Events, pod: ExecutorPod, now_s: float) -> bool:
    mark = not pod.marked
    patch = {
        "metadata": {
            "labels": {Label.MARKED.value: MARK if mark else None},
            "annotations": {POD_DELETION_COST: str(DRAINING_DELETION_COST) if mark else None},
        }
    }
    try:
        api.merge_patch(PODS, pod.name, pod.namespace, patch)
    except NotFound:
        return False
    events.mention(pod.regarding, _telling(pod, mark), now_s)
    return True


def _telling(pod: ExecutorPod, mark: bool) -> Telling:
    if mark:
        note = f"Executor {pod.executor_id} is drained and will be removed when it holds no key group."
        return Telling(reason=KubeReason.MARKED_FOR_REMOVAL.value, note=note, action="Drain")
    note = f"Executor {pod.executor_id} is not drained any more; it stays."
    return Telling(reason=KubeReason.UNMARKED.value, note=note, action="Drain")
