"""One agent for the sessions of a process: further sessions, a port that is taken."""

from __future__ import annotations

import os
import pathlib
import socket
import threading
from collections.abc import Iterator

import pytest
from fake_bridge import FakeBridge

from streamjob_agent import attach, tokens
from streamjob_agent.agent import Agent
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig


class Session:
    """As much of a SparkSession as attaching looks at."""

    def __init__(self, context: object) -> None:
        self.sparkContext = context


@pytest.fixture
def taken() -> Iterator[int]:
    """A port that somebody else listens on."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        yield other.getsockname()[1]


def test_a_session_whose_query_starts_is_watched_and_others_are_left_alone() -> None:
    bridge, context = FakeBridge(), object()
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge)
    host.query_starts(Session(context))  # nobody is there yet
    host.session_appeared(Session(context))
    further = Session(context)
    host.session_appeared(further)
    assert bridge.called("join") == []
    host.query_starts(further)
    host.query_starts(Session(object()))
    assert bridge.called("join") == [further]
    host.close()


def test_a_client_of_spark_connect_is_told_where_the_agent_belongs(caplog: pytest.LogCaptureFixture) -> None:
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: FakeBridge())
    host.client_appeared()
    host.client_appeared()
    assert host.address is not None
    assert host.status().reason == "SparkConnectClient"
    assert "a client of Spark Connect" in host.status().message
    assert [record.getMessage().count("under `python -m streamjob_agent run`") for record in caplog.records] == [1]
    host.close()


def test_a_server_of_spark_connect_in_this_process_is_a_driver() -> None:
    bridge = FakeBridge()
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge, in_use=lambda _: True)
    host.session_appeared(Session(object()))
    host.client_appeared()
    assert host.status().reason != "SparkConnectClient"
    host.close()


def test_a_session_is_left_alone_until_a_query_starts() -> None:
    bridge, attached = FakeBridge(), []

    def connect(session: object) -> FakeBridge:
        attached.append(session)
        return bridge

    session = Session(object())
    host = Host(AgentConfig(poll_s=0.05), connect=connect, in_use=lambda _: False)
    host.session_appeared(session)
    assert host.address is not None
    assert host.status().reason == "NotAttached"
    other = Session(session.sparkContext)
    host.query_starts(other)  # attached when it comes back
    assert attached == [other]
    assert bridge.called("join") == [other]
    host.close()


def test_a_session_that_is_used_without_a_query_is_attached_to_soon() -> None:
    used, attached = threading.Event(), threading.Event()

    def connect(_: object) -> FakeBridge:
        attached.set()
        return FakeBridge()

    host = Host(AgentConfig(poll_s=0.05), connect=connect, in_use=lambda _: used.is_set())
    host.session_appeared(Session(object()))
    assert not attached.is_set()
    used.set()
    assert attached.wait(30)
    host.close()


def test_a_session_that_goes_unused_is_never_attached_to() -> None:
    session = Session(object())
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: FakeBridge(), in_use=lambda _: False)
    host.session_appeared(session)
    host.session_leaves(session.sparkContext)
    assert host._attaching is not None
    host._attaching.join(30)
    assert not host._attaching.is_alive()
    assert (host._agent, host.status().reason) == (None, "NotAttached")
    host.close()


def test_a_taken_port_is_no_obstacle_where_a_file_tells_the_address(taken: int, tmp_path: pathlib.Path) -> None:
    file = tmp_path / "address"
    host = Host(AgentConfig(port=taken, address_file=str(file)), connect=lambda _: FakeBridge())
    host.session_appeared(Session(object()))
    assert host.address is not None
    assert host.address != f"127.0.0.1:{taken}"
    assert file.read_text() == f"http://{host.address}\n"
    assert host.status().errors_total == 0
    assert host.facts().errors["listen"] == 1
    host.close()


def test_a_job_waits_once_for_an_agent_that_cannot_be_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []

    class Attaching:
        def join(self, timeout: float) -> None:
            waited.append(timeout)
            now_s[0] += timeout

    now_s = [0.0]
    monkeypatch.setattr(attach.time, "monotonic", lambda: now_s[0])
    session = Session(object())
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: FakeBridge(), in_use=lambda _: False)
    host.session_appeared(session)
    thread, host._attaching = host._attaching, Attaching()  # type: ignore[assignment]  # one that never comes to an end
    for _ in range(3):
        host.query_starts(session)
    assert waited == [60.0, 0.0, 0.0]
    host.close()
    assert thread is not None
    thread.join(30)


def test_an_agent_that_cannot_have_a_thread_leaves_nothing_attached(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(agent: Agent) -> None:
        raise RuntimeError("can't start new thread")

    bridge = FakeBridge()
    monkeypatch.setattr(Agent, "start", refuse)
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge, in_use=lambda _: True)
    host.session_appeared(Session(object()))
    assert (host._agent, host.status().reason) == (None, "AttachFailed")
    assert len(bridge.called("close")) == 1
    host.close()


def test_an_agent_whose_session_went_while_it_was_attached_leaves_nothing_attached() -> None:
    bridge, session = FakeBridge(), Session(object())

    def connect(_: object) -> FakeBridge:
        host.session_leaves(session.sparkContext)
        return bridge

    host = Host(AgentConfig(poll_s=0.05), connect=connect, in_use=lambda _: True)
    host.session_appeared(session)
    assert host._agent is None
    assert len(bridge.called("close")) == 1
    host.close()


def test_a_forked_child_that_comes_to_its_end_leaves_the_agent_and_its_token_alone(
    monkeypatch: pytest.MonkeyPatch, tmp_path: pathlib.Path
) -> None:
    monkeypatch.setattr(tokens, "folders", lambda: (tmp_path,))
    bridge = FakeBridge()
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge, in_use=lambda _: True)
    host.session_appeared(Session(object()))
    child = os.fork()
    if child == 0:
        try:
            host.close()  # as Python does at the end of a process
            os._exit(len(bridge.called("close")))
        finally:
            os._exit(99)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert len(list(tmp_path.iterdir())) == 1
    host.close()
    assert list(tmp_path.iterdir()) == []
