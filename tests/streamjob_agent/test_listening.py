"""Servers that listen everywhere do so on clusters of IPv4, of IPv6 and of both."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from streamjob_agent.kube.client import agent_url
from streamjob_agent.listening import WideServer, own_address

Listen = Callable[[str], int]


class Handler(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_: object) -> None:
        """Nothing to say."""


@pytest.fixture
def listen() -> Iterator[Listen]:
    """A server at a host; its port."""
    servers: list[WideServer] = []

    def begin(host: str) -> int:
        servers.append(WideServer((host, 0), Handler))
        threading.Thread(target=servers[-1].serve_forever, args=(0.01,), daemon=True).start()
        return servers[-1].server_port

    yield begin
    for one in servers:
        one.shutdown()
        one.server_close()


def answered(port: int) -> list[str]:
    """Addresses of this machine at which there is an answer."""
    found = []
    for host in ("127.0.0.1", "[::1]"):
        with (
            contextlib.suppress(urllib.error.URLError),
            urllib.request.urlopen(f"http://{host}:{port}/", timeout=10.0),
        ):
            found.append(host)
    return found


has_ipv6 = pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="this machine has no IPv6")


@has_ipv6
@pytest.mark.parametrize(
    ("host", "wanted"),
    [
        ("0.0.0.0", ["127.0.0.1", "[::1]"]),
        ("::", ["127.0.0.1", "[::1]"]),
        ("127.0.0.1", ["127.0.0.1"]),
        ("::1", ["[::1]"]),
        ("localhost", ["127.0.0.1"]),
    ],
)
def test_everywhere_is_by_both(host: str, wanted: list[str], listen: Listen) -> None:
    assert answered(listen(host)) == wanted


@pytest.mark.parametrize("host", ["0.0.0.0", "::", ""])
def test_a_machine_without_ipv6_listens_by_ipv4(host: str, listen: Listen, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(socket, "has_dualstack_ipv6", lambda: False)
    assert answered(listen(host)) == ["127.0.0.1"]


def test_an_address_is_told_as_a_url_has_it(monkeypatch: pytest.MonkeyPatch) -> None:
    assert agent_url("::1:81") == "http://[::1]:81"
    assert agent_url("10.0.0.7:81") == "http://10.0.0.7:81"
    assert re.fullmatch(r"http://.+:81", str(agent_url("0.0.0.0:81")))
    found = [(socket.AF_INET6, socket.SOCK_STREAM, 6, "", ("fd00::7", 0, 0, 0))]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *_, **__: found)
    assert own_address() == "fd00::7"
    assert agent_url("0.0.0.0:81") == "http://[fd00::7]:81"
