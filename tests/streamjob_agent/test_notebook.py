"""The agent of a session that exists already is taken back."""

from __future__ import annotations

import socket
import threading

import pytest
from fake_bridge import FakeBridge

from streamjob_agent import notebook, tokens
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig
from streamjob_agent.plugin import MARK


class Session:
    """As much of a SparkSession as attaching looks at."""

    def __init__(self) -> None:
        self.sparkContext: object = object()


@pytest.fixture
def installed(monkeypatch: pytest.MonkeyPatch) -> tuple[Host, FakeBridge]:
    """A host with an agent, where `install` keeps its own."""
    bridge = FakeBridge()
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge, in_use=lambda _: True)
    host.session_appeared(Session())
    monkeypatch.setattr(notebook, "_installed", [host])
    return host, bridge


def test_what_was_installed_is_detached_once(installed: tuple[Host, FakeBridge]) -> None:
    host, bridge = installed
    assert host._agent is not None
    notebook.uninstall()
    assert host._agent is None
    assert notebook._installed == []
    assert len(bridge.called("close")) == 1
    notebook.uninstall()
    assert len(bridge.called("close")) == 1


def test_what_is_taken_back_leaves_no_thread_port_or_file(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    before = set(threading.enumerate())
    config = AgentConfig(poll_s=0.05, partition_map="jobs/one")
    host = Host(config, connect=lambda _: FakeBridge(), in_use=lambda _: True)
    host.session_appeared(Session())
    monkeypatch.setattr(notebook, "_installed", [host])
    server = host._server
    assert server is not None
    ours = set(threading.enumerate()) - before
    assert {"streamjob-agent", "streamjob-agent-http", "streamjob-map_watch"} <= {thread.name for thread in ours}
    notebook.uninstall()
    for thread in ours:
        thread.join(30)
    assert not [thread.name for thread in ours if thread.is_alive()]
    with pytest.raises(ConnectionRefusedError):
        socket.create_connection(("127.0.0.1", server.port), timeout=10)
    assert tokens.find(f"http://127.0.0.1:{server.port}") is None


def test_a_driver_with_the_plugin_gets_no_second_agent(
    installed: tuple[Host, FakeBridge], caplog: pytest.LogCaptureFixture
) -> None:
    class Context:
        def getConf(self) -> Context:  # noqa: N802 - pyspark's name
            return self

        def getAll(self) -> list[tuple[str, str]]:  # noqa: N802
            return [(MARK, "true")]

    session = Session()
    session.sparkContext = Context()
    assert notebook.install(session) is None
    assert "this driver has one already, as a plugin of Spark" in caplog.text
    assert installed[0]._context is not session.sparkContext
