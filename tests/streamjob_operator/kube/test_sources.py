"""Where measurements come from, when the way there is barred."""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable
from typing import Any

import pytest
from agent_reports import agent
from kept import Kept

from streamjob_agent.wire import AgentStatus
from streamjob_operator.kube.api.kinds import PARTITION_MAPS, PODS, SECRETS, STREAM_JOBS
from streamjob_operator.kube.api.reading import read_job
from streamjob_operator.kube.api.refusals import Refused
from streamjob_operator.kube.metrics import sources
from streamjob_operator.kube.names import Phase
from streamjob_operator.kube.partition_map.maps import view_of
from streamjob_operator.kube.report.facts import DriverFacts, Facts
from streamjob_operator.measure.room import Room
from streamjob_operator.ports import Unavailable
from streamjob_operator.values import Snapshot

LOCKED = {"prometheus": {"url": "http://127.0.0.1:9", "auth": {"secretRef": {"name": "login"}}}}


def test_a_secret_that_may_not_be_read_is_told_in_a_condition() -> None:
    kept = Kept(metrics=LOCKED)
    kept.driver()
    kept.look()
    kept.reports(agent())

    def forbid(name: str) -> None:
        if name == "login":
            raise Refused(403, "Forbidden", 'secrets "login" is forbidden')

    kept.api.before["get"] = forbid
    kept.look()
    assert ("get", SECRETS.plural) in kept.api.calls
    assert kept.condition("MetricsAvailable") == "False/PrometheusDenied"
    assert any('secrets "login" is forbidden' in one["message"] for one in kept.status()["conditions"])


def reached(url: str | None, address: str | None = "10.1.2.3") -> sources.Reached:
    """A turn's facts, the agent's address as the job's account has written it, the pod's as Kubernetes has."""
    told = {} if url is None else {"agentUrl": url}
    document = {"metadata": {"resourceVersion": "1"}, "spec": {}, "status": told}
    driver = DriverFacts(phase=Phase.RUNNING, reason="Adopted", message="", address=address)
    facts = Facts(now_s=0.0, uid="u", generation=1, job=None, driver=driver, map=view_of(document))
    return sources.reached(facts)


@pytest.mark.parametrize(
    ("told", "pod", "asked"),
    [
        ("http://10.1.2.3:7980", "10.1.2.3", "http://10.1.2.3:7980"),
        ("http://169.254.169.254:80/", "10.1.2.3", "http://10.1.2.3:80"),
        ("http://kubernetes.default.svc:443", "10.1.2.3", "http://10.1.2.3:443"),
        ("http://10.1.2.3:7980", "fd00::7", "http://[fd00::7]:7980"),
    ],
)
def test_the_agent_is_read_at_its_drivers_pod_whatever_it_says(told: str, pod: str, asked: str) -> None:
    assert sources._url(lambda: reached(told, pod)) == asked


@pytest.mark.parametrize(
    "told",
    [
        None,
        "",
        "file:///var/run/secrets/kubernetes.io/serviceaccount/token",
        "http://10.1.2.3",
        "http://10.1.2.3:0",
        "http://10.1.2.3:99999",
        "https://10.1.2.3:443",
        "http://10.1.2.3:80/latest/meta-data",
        "http://user@evil:80",
    ],
)
def test_an_address_that_is_none_is_not_asked(told: str | None) -> None:
    with pytest.raises(Unavailable, match="has not said yet"):
        sources._url(lambda: reached(told))


def test_a_pod_without_an_address_is_waited_for() -> None:
    with pytest.raises(Unavailable, match="no address yet"):
        sources._url(lambda: reached("http://10.1.2.3:7980", None))


def told_id(application_id: str) -> dict[str, Any]:
    """A map whose agent calls its application so."""
    kept = Kept()
    kept.driver()
    kept.look()
    kept.reports(agent(application_id=application_id))
    return copy.deepcopy(kept.found(PARTITION_MAPS, "orders"))


def test_an_application_id_that_would_select_more_is_not_read() -> None:
    assert view_of(told_id("spark-0123456789abcdef")).agent is not None
    for hostile in ("spark-1,!none", "spark-1)", "a=b", "", "x" * 64):
        document = told_id("spark-1")
        document["status"]["applicationId"] = hostile or " "
        seen = view_of(document)
        assert seen.agent is None
        assert "not what Spark gives" in str(seen.unreadable)


def test_executors_of_another_driver_are_not_marked() -> None:
    """An adopted job's account may say that any application is its own."""
    kept = Kept()
    kept.driver(uid="mine")
    kept.look()
    for name, driver in (("ours", "mine"), ("theirs", "another"), ("of-nobody", None)):
        labels = {"spark-app-selector": "app-1", "spark-exec-id": name, "spark-role": "executor"}
        owners = [] if driver is None else [{"kind": "Pod", "uid": driver}]
        metadata = {"name": name, "namespace": "n", "labels": labels, "ownerReferences": owners}
        kept.api.put(PODS, {"metadata": metadata, "status": {"phase": "Running"}})
    kept.reports(agent())
    kept.look()
    assert kept.status()["executors"]["admitted"] == 2


def test_a_source_that_is_closed_waits_for_no_agent(monkeypatch: pytest.MonkeyPatch) -> None:
    """Eight threads look at all jobs; those of deleted ones must not each wait for a driver that is gone."""
    asked, answer = threading.Event(), threading.Event()

    def page(*_: object) -> bytes:
        asked.set()
        answer.wait(60.0)
        raise Unavailable("down")

    monkeypatch.setattr(sources.AgentClient, "page", page)
    kept = Kept()
    job = read_job(kept.found(STREAM_JOBS, "orders")).job
    assert job is not None
    source = sources.open_source(kept.api, "n", job, lambda: None, sources.Shared())
    assert asked.wait(60.0)
    waits: list[object] = []
    with monkeypatch.context() as patched:
        patched.setattr(threading.Thread, "join", lambda thread, timeout=None: waits.append(thread))
        source.close()
    answer.set()
    assert waits == []


def test_the_pages_of_all_jobs_share_one_room(monkeypatch: pytest.MonkeyPatch) -> None:
    rooms: list[Room | None] = []

    class Seen(sources.AgentMetrics):
        def __init__(self, *given: Any, room: Room | None = None, **more: Any) -> None:
            super().__init__(*given, room=room, **more)
            rooms.append(room)

    monkeypatch.setattr(sources, "AgentMetrics", Seen)
    kept = Kept()
    job = read_job(kept.api.get(STREAM_JOBS, "orders", "n")).job
    assert job is not None
    shared = sources.Shared()
    for _ in range(2):
        source = sources.open_source(kept.api, "jobs", job, lambda: None, shared)
        source.close()
        assert source.note() is None
    assert rooms == [shared.room, shared.room]


def test_an_agents_report_is_held_in_a_cycle_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    """Those of all jobs, with what turns have found beside them, were a sixth of what the operator held."""
    asked: list[Callable[[], AgentStatus]] = []
    seen: list[AgentStatus] = []

    class Asking(sources.PrometheusMetrics):
        def __init__(self, settings: Any, status: Callable[[], AgentStatus], *given: Any, **more: Any) -> None:
            super().__init__(settings, status, *given, **more)
            asked.append(status)

        def observe(self, *_: float) -> Snapshot:
            seen.append(asked[0]())
            raise Unavailable("down")

    monkeypatch.setattr(sources, "PrometheusMetrics", Asking)
    kept = Kept(metrics={"prometheus": {"url": "http://127.0.0.1:9"}})
    kept.driver()
    kept.look()
    kept.reports(agent(application_id="app-1"))
    kept.look()
    assert [one.application_id for one in seen] == ["app-1"]
    with pytest.raises(Unavailable, match="has not reported yet"):
        asked[0]()
