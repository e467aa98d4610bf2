"""The agent of a session that exists already is taken back."""

from __future__ import annotations

import pytest
from fake_bridge import FakeBridge

from streamjob_agent import notebook
from streamjob_agent.attach import Host
from streamjob_agent.config import AgentConfig


class Session:
    """As much of a SparkSession as attaching looks at."""

    def __init__(self) -> None:
        self.sparkContext = object()


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
