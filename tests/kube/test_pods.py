"""Executors' pods on a real API server: found by Spark's labels, marked while they drain, explained when they hang."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

import pytest
from e2e.simulated.pods import executor_pod
from kubectl import Kubectl, eventually

from streamjob_operator.kube.api.client import KubeApi
from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.pods.executors import ExecutorPods, executor_pods
from streamjob_operator.kube.pods.lost_nodes import Since, leaving_since, let_go
from streamjob_operator.kube.pods.marks import mark_pods
from streamjob_operator.kube.report.events import Events

MARK, COST = "streamjob.dev/marked-for-removal", "controller.kubernetes.io/pod-deletion-cost"
DRIVER = "uid-of-the-driver"
NOW_S = 1_700_000_000.0


class Pods:
    """Three executors of one application, and one of another."""

    def __init__(self, kubectl: Kubectl, api: KubeApi, namespace: str) -> None:
        for application, executors in (("spark-1", ("1", "2", "10")), ("spark-2", ("1",))):
            kubectl.apply(*(executor_pod(application, application, one) for one in executors))
        self.kubectl = kubectl
        self.api = api
        self.namespace = namespace

    def found(self) -> ExecutorPods:
        return executor_pods(self.api, self.namespace, "spark-1", DRIVER)

    def mark(self, *marked: str) -> tuple[str, ...]:
        return mark_pods(self.api, Events(self.api), self.found(), marked, NOW_S)

    def say(self, name: str, status: dict[str, Any]) -> None:
        self.api.merge_patch(PODS, name, self.namespace, {"status": status}, subresource="status")

    def metadata(self, name: str) -> dict[str, Any]:
        found: dict[str, Any] = self.kubectl.get("pod", name)["metadata"]
        return found


@pytest.fixture
def pods(kubectl: Kubectl, api_server: Path, namespace: str) -> Pods:
    return Pods(kubectl, KubeApi.from_kubeconfig(api_server), namespace)


def test_executors_of_the_application_are_found_in_order(pods: Pods) -> None:
    found = pods.found()
    assert [one.executor_id for one in found.pods] == ["1", "2", "10"]
    assert found.names == {one: f"spark-1-exec-{one}" for one in ("1", "2", "10")}
    assert (found.admitted, found.ready, found.trouble) == (3, 0, None)


def test_ready_ones_are_counted_and_ended_ones_are_not(pods: Pods) -> None:
    pods.say("spark-1-exec-1", {"phase": "Running", "conditions": [{"type": "Ready", "status": "True"}]})
    pods.say("spark-1-exec-2", {"phase": "Succeeded"})
    found = pods.found()
    assert (found.admitted, found.ready) == (2, 1)


def test_a_pod_without_room_is_told_in_the_schedulers_words(pods: Pods) -> None:
    no_room = {"type": "PodScheduled", "status": "False", "reason": "Unschedulable", "message": "0/3 nodes: too small"}
    for name in ("spark-1-exec-2", "spark-1-exec-10"):
        pods.say(name, {"conditions": [no_room]})
    assert pods.found().trouble == "The executor's pod spark-1-exec-2 (and 1 more) does not start: 0/3 nodes: too small"


def test_a_missing_image_is_told_in_the_kubelets_words(pods: Pods) -> None:
    waiting = {"waiting": {"reason": "ImagePullBackOff", "message": "no such image"}}
    status = {"name": "spark", "image": "spark", "imageID": "", "ready": False, "restartCount": 0, "state": waiting}
    pods.say("spark-1-exec-1", {"containerStatuses": [status]})
    assert "container spark: ImagePullBackOff: no such image" in str(pods.found().trouble)


def test_exactly_the_marked_ones_carry_the_mark(pods: Pods) -> None:
    assert pods.mark("2", "10") == ("spark-1-exec-2", "spark-1-exec-10")
    assert pods.mark("2", "10") == ()  # as it is already
    for name in ("spark-1-exec-2", "spark-1-exec-10"):
        assert pods.metadata(name)["labels"][MARK] == "true"
        assert int(pods.metadata(name)["annotations"][COST]) < 0
    assert MARK not in pods.metadata("spark-1-exec-1")["labels"]
    assert pods.mark("10") == ("spark-1-exec-2",)
    assert MARK not in pods.metadata("spark-1-exec-2")["labels"]
    assert COST not in pods.metadata("spark-1-exec-2").get("annotations", {})
    assert pods.metadata("spark-1-exec-2")["labels"]["spark-exec-id"] == "2"
    assert pods.mark() == ("spark-1-exec-10",)
    assert [one.marked for one in pods.found().pods] == [False] * 3


def test_each_mark_is_an_event_on_the_pod(pods: Pods) -> None:
    pods.mark("2")
    pods.mark()

    def reasons() -> list[str]:
        events = pods.kubectl.get("events", "--field-selector=involvedObject.name=spark-1-exec-2")["items"]
        return sorted(event["reason"] for event in events)

    eventually(lambda: reasons() == ["MarkedForRemoval", "Unmarked"])


def test_a_pod_that_has_gone_is_no_error(pods: Pods) -> None:
    seen = pods.found()
    pods.kubectl("delete", "pod", "spark-1-exec-1", "spark-1-exec-2", "--wait=true")
    assert mark_pods(pods.api, Events(pods.api), seen, ("1", "2", "10"), NOW_S) == ("spark-1-exec-10",)


def lost(pods: Pods, grace_s: int = 1) -> None:
    """Executor 11 runs on a node that is gone: nobody ends its pod when it is deleted."""
    pod = executor_pod("spark-1", "spark-1", "11")
    pod["spec"] |= {"nodeName": "gone", "terminationGracePeriodSeconds": grace_s}
    pods.kubectl.apply(pod)
    pods.kubectl("delete", "pod", "spark-1-exec-11", "--wait=false")


def test_a_pod_that_its_node_does_not_end_is_taken_away_and_told(pods: Pods) -> None:
    lost(pods)
    (leaving,) = pods.found().leaving
    assert leaving.executor_id == "11"
    assert "11" not in pods.found().names  # it is none of those that are there
    events, since, ends_s = Events(pods.api), {leaving.uid: NOW_S}, NOW_S + leaving.grace_s
    assert leaving.grace_s == 1.0
    assert let_go(pods.api, events, pods.found(), since, ends_s + 59.0) == ()
    assert pods.found().leaving == (leaving,)
    assert let_go(pods.api, events, pods.found(), since, ends_s + 61.0) == ("spark-1-exec-11",)
    assert pods.found().leaving == ()
    assert [one.executor_id for one in pods.found().pods] == ["1", "2", "10"]  # the others stay

    def reasons() -> list[str]:
        told = pods.kubectl.get("events", "--field-selector=involvedObject.name=spark-1-exec-11")["items"]
        return [event["reason"] for event in told]

    eventually(lambda: reasons() == ["NodeSilent"])


@pytest.mark.parametrize("ahead_s", [0.0, 86_400.0, -86_400.0], ids=["same", "ahead", "behind"])
def test_a_pods_grace_is_counted_by_our_clock_whatever_the_api_servers_says(pods: Pods, ahead_s: float) -> None:
    """By the time that the API server has written, a pod would be overdue at once, or a day later than it is."""
    lost(pods, grace_s=30)
    events, seen_s = Events(pods.api), time.time() + ahead_s
    since: Since = {}
    for after_s, gone in ((0.0, ()), (10.0, ()), (89.0, ()), (91.0, ("spark-1-exec-11",))):
        found = pods.found()
        assert [one.grace_s for one in found.leaving] == [30.0]
        since = leaving_since(found, since, seen_s + after_s)
        assert let_go(pods.api, events, found, since, seen_s + after_s) == gone
    assert pods.found().leaving == ()


def test_another_pod_of_that_name_is_spared(pods: Pods) -> None:
    lost(pods)
    seen = pods.found()
    pods.kubectl("delete", "pod", "spark-1-exec-11", "--grace-period=0", "--force")
    pods.kubectl.apply(executor_pod("spark-1", "spark-1", "11"))
    let_go(pods.api, Events(pods.api), seen, {seen.leaving[0].uid: NOW_S}, NOW_S + 3600.0)
    assert "11" in pods.found().names
