"""What answers in the agent's place: nothing of it is followed, repeated, or waited for without end."""

from __future__ import annotations

import contextlib
import socket
import threading
import tracemalloc
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from fake_agent import FakeAgent, Server

from streamjob_operator.agent_http import client as client_module
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.ports import Unavailable

SECRET = "cloud-credentials-of-the-node"


class _Elsewhere(BaseHTTPRequestHandler):
    """A service behind the operator's network: what it says must not be seen."""

    code, location = 200, ""

    def do_GET(self) -> None:
        self.send_response(self.code, SECRET)
        if self.location:
            self.send_header("Location", self.location)
        self.send_header("Content-Length", str(len(SECRET)))
        self.end_headers()
        self.wfile.write(SECRET.encode())

    def log_message(self, format: str, *args: object) -> None:
        return


@contextlib.contextmanager
def served(code: int = 200, location: str = "") -> Iterator[str]:
    http = ThreadingHTTPServer(("127.0.0.1", 0), type("_Bound", (_Elsewhere,), {"code": code, "location": location}))
    thread = threading.Thread(target=http.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{http.server_address[1]}"
    finally:
        http.shutdown()
        http.server_close()
        thread.join(5.0)


def refusal(address: str, **limits: float) -> str:
    with pytest.raises(Unavailable) as caught:
        AgentClient(fixed_address(address), **limits).page()  # type: ignore[arg-type]
    return str(caught.value)


@pytest.mark.parametrize("code", [301, 302, 307, 308])
def test_a_redirect_is_not_followed(code: int) -> None:
    with served() as elsewhere, served(code, f"{elsewhere}/secret") as address:
        assert f"answered {code}" in refusal(address)


@pytest.mark.parametrize("code", [400, 403, 404, 409, 500])
def test_nothing_that_was_answered_is_repeated(code: int) -> None:
    with served(code) as address:
        assert SECRET not in refusal(address)


def test_only_http_is_spoken(tmp_path: Path) -> None:
    file = tmp_path / "secret"
    file.write_text(SECRET)
    for address in (
        f"file://{file}?",
        "ftp://127.0.0.1:1",
        "https://127.0.0.1:1",
        "http://",
        "http://[::1",
        "http://h:x",
    ):
        assert "http://HOST:PORT is needed" in refusal(address)


@pytest.mark.parametrize("part", [b"[],", b'{"a":', b"0,"])
def test_a_status_of_more_parts_than_any_has_is_not_taken_apart(monkeypatch: pytest.MonkeyPatch, part: bytes) -> None:
    """Each empty list of three bytes would be a hundred in the memory of an operator that looks after others, too."""

    def take_apart(_: bytes) -> None:
        raise AssertionError("it was taken apart")

    monkeypatch.setattr(client_module, "status_from_json", take_apart)
    client = AgentClient(fixed_address("127.0.0.1:1"))
    monkeypatch.setattr(client, "_ask", lambda _, **__: b'{"version": 1, "x": [' + part * 2_100_000)
    with pytest.raises(Unavailable, match="status cannot be read"):
        client.status()


def test_a_status_is_as_long_as_people_read_and_of_the_types_that_it_has() -> None:
    agent = FakeAgent()
    with Server(agent) as address:
        client = AgentClient(fixed_address(address))
        agent.said = "x" * 100_000
        assert len(client.status().message) == 1000
        agent.said = 7  # type: ignore[assignment]
        with pytest.raises(Unavailable, match="status cannot be read"):
            client.status()


def test_an_answer_that_drips_ends() -> None:
    """Each byte comes in time, the whole never does: no thread of the operator's waits for it."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        over = threading.Event()

        def drip() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as peer:
                peer.sendall(b"HTTP/1.1 200 OK\r\nX: ")
                while not over.wait(0.05):
                    peer.sendall(b"x")

        thread = threading.Thread(target=drip, daemon=True)
        thread.start()
        sentence = refusal(f"http://127.0.0.1:{server.getsockname()[1]}", timeout_s=1.0, whole_s=0.5)
        over.set()
        thread.join(5.0)
    assert "not wholly within 0.5 s" in sentence


HEADERS = b"".join(b"X%d: " % one + b"x" * 60_000 + b"\r\n" for one in range(90))
"""Python's own client takes 100 of 64 KiB, of each agent."""


@pytest.mark.parametrize("head", [b"HTTP/1.1 200 OK\r\n" + HEADERS, b"HTTP/1.1 100 Continue\r\n\r\n" * 10_000])
def test_a_flood_of_headers_is_not_read(head: bytes) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def flood() -> None:
            with contextlib.suppress(OSError), server.accept()[0] as peer:
                peer.settimeout(10.0)
                peer.recv(1000)
                for at in range(0, len(head), 10_000):
                    peer.sendall(head[at : at + 10_000])
                peer.sendall(b"\r\n")

        thread = threading.Thread(target=flood, daemon=True)
        thread.start()
        tracemalloc.start()
        sentence = refusal(f"http://127.0.0.1:{server.getsockname()[1]}")
        peak_bytes = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        thread.join(30.0)
    assert "does not speak HTTP as it should (LineTooLong)" in sentence
    assert peak_bytes < 2**20
