"""Which marks stay while an executor goes; marks and pods that are let go where no event can be posted."""

from __future__ import annotations

import pytest
from agent_reports import agent
from fake_api import FakeApi

from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.names import Label
from streamjob_operator.kube.pods.executors import ExecutorPod, ExecutorPods, LeavingPod
from streamjob_operator.kube.pods.lost_nodes import let_go
from streamjob_operator.kube.pods.marks import keep_marks, mark_pods
from streamjob_operator.kube.report.events import Events


def pods(**marked: bool) -> ExecutorPods:
    return ExecutorPods(
        pods=tuple(
            ExecutorPod(
                executor_id=name.removeprefix("e"),
                name=f"exec-{name}",
                namespace="jobs",
                uid=name,
                ready=True,
                marked=is_marked,
                trouble=None,
            )
            for name, is_marked in marked.items()
        )
    )


def test_a_mark_stays_on_an_executor_that_spark_has_forgotten_or_lets_go() -> None:
    known = agent(executors={"0": "ready", "1": "draining", "2": "leaving", "3": "dead"})
    found = pods(e0=True, e1=True, e2=True, e3=True, e4=True)
    assert keep_marks(found, known, ()) == ("2", "3", "4")


def test_a_mark_stays_on_an_executor_that_was_ordered_to_go() -> None:
    assert keep_marks(pods(e0=True, e1=True), agent(), ("1",)) == ("1",)


def test_an_executor_without_a_mark_gets_none() -> None:
    assert keep_marks(pods(e0=False, e7=False), agent(), ("0",)) == ()


@pytest.fixture
def closed() -> FakeApi:
    """A namespace whose quota of events is used up."""
    api = FakeApi()

    def refuse(_: str) -> None:
        raise Refused(403, "Forbidden", "exceeded quota: count/events.events.k8s.io")

    api.before["create"] = refuse
    return api


def put(api: FakeApi, name: str) -> str:
    """A pod of that name; its uid."""
    return str(api.put(PODS, {"metadata": {"name": name, "namespace": "jobs"}})["metadata"]["uid"])


def test_pods_are_marked_where_no_event_can_be_posted(closed: FakeApi) -> None:
    for name in ("exec-e0", "exec-e1"):
        put(closed, name)
    mark_pods(closed, Events(closed), pods(e0=False, e1=False), ("0", "1"), 0.0)  # type: ignore[arg-type]
    marked = [one["metadata"]["labels"][Label.MARKED.value] for one in closed.objects.values()]
    assert marked == ["true", "true"]


def test_a_pod_that_no_node_ends_goes_where_no_event_can_be_posted(closed: FakeApi) -> None:
    leaving = LeavingPod(executor_id="0", name="exec-e0", namespace="jobs", uid=put(closed, "exec-e0"), due_s=0.0)
    let_go(closed, Events(closed), ExecutorPods(leaving=(leaving,)), 1e6)  # type: ignore[arg-type]
    assert closed.objects == {}
