"""Which marks stay while an executor goes; marks and pods that are let go where no event can be posted."""

from __future__ import annotations

from typing import Any

import pytest
from agent_reports import agent
from fake_api import FakeApi

from streamjob_operator.kube.api.kinds import PODS
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.names import Label
from streamjob_operator.kube.pods.executors import ExecutorPod, ExecutorPods, LeavingPod, read_pods
from streamjob_operator.kube.pods.lost_nodes import leaving_since, let_go
from streamjob_operator.kube.pods.marks import keep_marks, mark_pods
from streamjob_operator.kube.report.events import Events
from streamjob_operator.kube.watched.trimmed import trimmed


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


def leaving(uid: str, grace_s: float = 30.0) -> ExecutorPods:
    one = LeavingPod(executor_id="0", name="exec-e0", namespace="jobs", uid=uid, grace_s=grace_s)
    return ExecutorPods(leaving=(one,))


def test_a_pod_that_no_node_ends_goes_where_no_event_can_be_posted(closed: FakeApi) -> None:
    found = leaving(put(closed, "exec-e0"))
    let_go(closed, Events(closed), found, {found.leaving[0].uid: 0.0}, 91.0)  # type: ignore[arg-type]
    assert closed.objects == {}


def test_the_grace_of_a_pod_is_counted_from_when_its_end_was_seen_first() -> None:
    """By one clock: the API server's may be behind ours, and a graceful end takes its time."""
    api: Any = FakeApi()
    found = leaving(put(api, "exec-e0"), grace_s=600.0)
    seen = leaving_since(found, {}, now_s=10_000.0)
    assert leaving_since(found, seen, now_s=20_000.0) == seen == {found.leaving[0].uid: 10_000.0}
    assert let_go(api, Events(api), found, seen, 10_659.0) == ()
    assert let_go(api, Events(api), found, seen, 10_661.0) == ("exec-e0",)
    assert leaving_since(ExecutorPods(), seen, now_s=20_000.0) == {}


def test_how_long_a_pods_end_may_take_is_the_api_servers_word() -> None:
    metadata = {"name": "e", "namespace": "n", "uid": "u", "resourceVersion": "1", "labels": {"spark-exec-id": "7"}}
    metadata |= {"deletionTimestamp": "2001-01-01T00:00:00Z", "deletionGracePeriodSeconds": 120}
    found = read_pods([trimmed(PODS, {"metadata": metadata})])
    assert [(one.executor_id, one.grace_s) for one in found.leaving] == [("7", 120.0)]
