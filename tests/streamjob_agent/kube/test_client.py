"""The agent on its PartitionMap: applies it, reports, and outlives whatever the API does. The API is a fake here."""

from __future__ import annotations

import pathlib
import time
import types
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from fake_bridge import APPLICATION, QUERY, FakeBridge
from fake_map_api import FakeMapApi, gone

from streamjob_agent.agent import Agent
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig
from streamjob_agent.guard import Guard
from streamjob_agent.kube.api import ApiFailure
from streamjob_agent.kube.client import STATUS, WATCH, MapClient, agent_url, prepared
from streamjob_agent.kube.pacing import WritePace
from streamjob_agent.memory import AssignmentMemory
from streamjob_agent.wire import AgentStatus, Assignment

EVERYTHING_TO_1 = dict.fromkeys((0, 1), ("1",) * 6)


class Desk:
    """An agent over the fake Spark whose rounds a test makes."""

    address = "127.0.0.1:4711"

    def __init__(self, memory: pathlib.Path) -> None:
        self.bridge = FakeBridge()
        self.agent = Agent(self.bridge, AgentConfig(state_dir=str(memory)))
        self.agent.prepare()
        self.agent.round()

    def batch(self) -> None:
        self.bridge.run_batch()
        self.agent.round()

    def submit(self, assignment: Assignment) -> str | None:
        return self.agent.submit(assignment)

    def status(self) -> AgentStatus:
        return self.agent.status()


class Rig:
    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        self.desk = Desk(folder)
        self.api = FakeMapApi()
        self.guard = Guard()
        self.client = MapClient(self.desk, self.api, self.guard, AssignmentMemory(str(folder)), tick_s=0.01)

    def plan(self, generation: int = 1, application: str = APPLICATION, **fields: Any) -> Assignment:
        return Assignment(generation=generation, application_id=application, query_id=QUERY, **fields)

    def until(self, holds: Callable[[], Any]) -> None:
        until = time.monotonic() + 60.0
        while not holds():
            assert time.monotonic() < until
            time.sleep(0.005)


@pytest.fixture
def rig(tmp_path: pathlib.Path) -> Iterator[Rig]:
    made = Rig(tmp_path)
    yield made
    made.client.stop()
    made.api.go.set()


def test_a_plan_is_applied_and_reported(rig: Rig) -> None:
    rig.desk.batch()
    rig.client.start()
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.until(lambda: rig.desk.agent._inbox)
    rig.desk.batch()
    rig.desk.batch()
    rig.until(lambda: rig.api.status().generation_applied == 1)
    assert rig.api.status().queries[0].owners == EVERYTHING_TO_1
    assert rig.guard.errors() == {}


def test_a_report_says_when_the_next_one_comes(rig: Rig) -> None:
    rig.desk.batch()
    rig.api.put(rig.plan(application="app-0"))
    told = []
    for _ in range(2):  # of the refused plan it hears by the answer to its first report
        rig.client._pace = WritePace()
        rig.client.report_once()
        told.append((rig.api.found["status"]["heartbeatSeconds"], rig.api.status().refused is not None))
    assert told == [(30.0, False), (10.0, True)]


def test_a_map_for_another_driver_is_refused_in_the_status(rig: Rig) -> None:
    rig.desk.batch()
    rig.api.put(rig.plan(application="app-0"))
    rig.client.start()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().refused)
    assert str(rig.api.status().refused).startswith("StaleApplication: application_id 'app-0' given, the driver is")


def test_an_older_plan_is_refused_in_the_status(rig: Rig) -> None:
    rig.desk.batch()
    assert rig.desk.submit(rig.plan(generation=5)) is None
    rig.api.put(rig.plan(generation=4))
    rig.client.start()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().refused)
    assert rig.api.status().refused == "StaleGeneration: generation 4 given, 5 is applied already"


def test_an_unreadable_map_is_refused_in_the_status(rig: Rig) -> None:
    rig.api.put_spec({"generation": 3, "applicationId": APPLICATION, "queryId": QUERY, "owners": {"0": "1*x"}})
    rig.client.start()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().refused)
    assert str(rig.api.status().refused).startswith("Unreadable: owners: '1*x' is not an executor id")


def test_a_map_that_comes_before_the_query_is_applied_once_it_runs(rig: Rig) -> None:
    rig.desk.bridge.running = False
    rig.desk.agent.round()
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.client.start()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().refused)
    assert "UnknownQuery" in str(rig.api.status().refused)
    rig.desk.bridge.running = True
    rig.desk.batch()
    rig.until(lambda: rig.desk.agent._inbox)
    rig.desk.batch()
    rig.until(lambda: rig.api.status().generation_applied == 1 and rig.api.status().refused is None)


FAILURES = {
    "down": ApiFailure(None, "no answer: connection refused"),
    "conflict": ApiFailure(409, "409: the object has been modified"),
    "too many requests": ApiFailure(429, "429: too many requests", retry_after_s=0.0),
    "internal error": ApiFailure(500, "500: etcd is down"),
    "not there": ApiFailure(404, "404: not found"),
    "not allowed": ApiFailure(403, "403: forbidden"),
    "a mistake of ours": KeyError("metadata"),
}


@pytest.mark.parametrize("name", sorted(FAILURES))
def test_failures_are_counted_survived_and_leave_the_plan_in_force(rig: Rig, name: str) -> None:
    rig.desk.batch()
    for method in ("read", "watch", "write_status"):
        rig.api.faults[method] = [FAILURES[name]]
    rig.client.start()
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.until(lambda: rig.desk.agent._inbox)
    rig.desk.batch()
    rig.desk.batch()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().generation_applied == 1)
    rig.until(lambda: rig.guard.errors() == {WATCH: 2, STATUS: 1})
    assert rig.desk.agent.status().actuation == "on"
    assert rig.desk.bridge.ran == dict.fromkeys(rig.desk.bridge.ran, "1")


def test_a_version_that_is_too_old_is_read_anew_and_no_error(rig: Rig) -> None:
    rig.desk.batch()
    rig.api.faults["watch"] = [gone(), gone()]
    rig.client.start()
    rig.until(lambda: rig.api.calls.count("read") >= 3)
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.until(lambda: rig.desk.agent._inbox)
    assert rig.guard.errors() == {}


def test_news_come_with_the_status_while_no_watch_gets_through(rig: Rig) -> None:
    rig.desk.batch()
    rig.api.faults["read"] = [ApiFailure(403, "403: forbidden")] * 1000
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.client.start()
    rig.until(lambda: rig.desk.agent._inbox)


def test_an_api_that_hangs_holds_nobody_up(rig: Rig) -> None:
    rig.api.hang = True
    rig.client.start()
    rig.until(lambda: {"read", "write_status"} <= set(rig.api.calls))
    rig.desk.batch()
    assert rig.desk.submit(rig.plan(owners=EVERYTHING_TO_1)) is None
    rig.desk.batch()
    rig.desk.batch()
    assert rig.desk.agent.status().generation_applied == 1


def test_a_new_driver_places_its_first_batch_as_the_map_says(rig: Rig, tmp_path: pathlib.Path) -> None:
    """Executor ids mean other processes now, but key groups that were together stay together."""
    rows = {0: ("7", "7", "9", "9", "12", "9"), 1: ("12", "12", "7", "7", "9", "12")}
    rig.api.put(rig.plan(application="app-0", owners=rows))
    rig.client.start()
    rig.until(lambda: AssignmentMemory(str(tmp_path)).load(QUERY) is not None)
    desk = Desk(tmp_path)  # the session comes up after the map was read
    desk.batch()
    became = {"7": "0", "9": "1", "12": "2"}
    assert {key: became[rows[key.operator][key.partition]] for key in desk.bridge.ran} == desk.bridge.ran


def test_a_memory_of_the_driver_s_own_is_newer_than_the_map(rig: Rig, tmp_path: pathlib.Path) -> None:
    own = rig.plan(generation=9)
    AssignmentMemory(str(tmp_path)).save(own)
    rig.api.put(rig.plan(generation=8, application="app-0"))
    rig.client.start()
    rig.until(lambda: "status" in rig.api.found and rig.api.status().refused)
    assert AssignmentMemory(str(tmp_path)).load(QUERY) == own


def test_a_memory_that_cannot_be_written_keeps_no_plan_away(tmp_path: pathlib.Path) -> None:
    rig = Rig(tmp_path / "agent")
    rig.desk.batch()
    (tmp_path / "file").touch()
    rig.client = MapClient(rig.desk, rig.api, rig.guard, AssignmentMemory(str(tmp_path / "file")), tick_s=0.01)
    rig.api.put(rig.plan(owners=EVERYTHING_TO_1))
    rig.client.report_once()
    assert rig.desk.agent._inbox
    assert rig.guard.errors() == {"map_hint": 1}


def test_a_driver_without_an_api_server_attaches_as_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KUBECONFIG", "KUBERNETES_SERVICE_HOST"):
        monkeypatch.delenv(name, raising=False)
    config = AgentConfig(partition_map="streams/orders")
    host = Host(config, connect=lambda session: FakeBridge())
    try:
        host.session_appeared(types.SimpleNamespace(sparkContext=object()))
        until = time.monotonic() + 60.0
        while not {WATCH, STATUS} <= host.guard.errors().keys() or host.status().actuation != "on":
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        host.close()


def test_a_map_gives_the_driver_a_memory_and_lets_nobody_else_steer(tmp_path: pathlib.Path) -> None:
    plain, own = AgentConfig(), AgentConfig(partition_map="a/b", state_dir=str(tmp_path), token="mine")
    assert prepared(plain) is plain
    assert prepared(own) == own
    made = [prepared(AgentConfig(partition_map="a/b")) for _ in range(2)]
    folders = [pathlib.Path(str(config.state_dir)) for config in made]
    assert made[0].token != made[1].token
    assert all(config.token for config in made)
    for folder in folders:
        folder.rmdir()


def test_where_the_agent_is_found_is_told(rig: Rig) -> None:
    assert agent_url(None) is None
    assert agent_url("127.0.0.1:81") == "http://127.0.0.1:81"
    assert str(agent_url("0.0.0.0:81")).startswith("http://")
    assert "0.0.0.0" not in str(agent_url("0.0.0.0:81"))
    rig.client.report_once()
    assert rig.api.found["status"]["agentUrl"] == "http://127.0.0.1:4711"


def test_stopping_ends_both_threads(rig: Rig) -> None:
    rig.client.start()
    rig.until(lambda: "watch" in rig.api.calls)
    rig.client.stop()
    rig.until(lambda: not any(thread.is_alive() for thread in rig.client._threads))
