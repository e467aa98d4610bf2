"""One agent for the sessions of a process: further sessions, a port that is taken."""

from __future__ import annotations

import pathlib
import socket
from collections.abc import Iterator

import pytest
from fake_bridge import FakeBridge

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


def test_a_further_session_of_the_application_is_watched_too() -> None:
    bridge, context = FakeBridge(), object()
    host = Host(AgentConfig(poll_s=0.05), connect=lambda _: bridge)
    host.session_joins(Session(context))  # nobody is there yet
    host.session_appeared(Session(context))
    further = Session(context)
    host.session_joins(further)
    host.session_joins(Session(object()))
    assert bridge.called("join") == [further]
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
