"""Callers that hang, drip or flood: whoever else asks is answered, and none of them fills the driver's memory."""

from __future__ import annotations

import contextlib
import http.client
import socket
import threading
import time
from collections.abc import Iterator

import pytest
from bare_status import bare_status

from streamjob_agent import server as server_module
from streamjob_agent.plan_form import QueryPlan
from streamjob_agent.server import AgentServer
from streamjob_agent.wire import AgentStatus, Assignment, assignment_to_json

MANY = 24
PAGE = b"x" * 32 * 2**20
"""More than a socket takes while nobody reads."""
PLAN = assignment_to_json(Assignment(generation=1, application_id="a", query_id="q")).encode()


class Desk:
    """Plans and pages come once they are let go."""

    def __init__(self) -> None:
        self.plans_may_come, self.pages_may_come, self.asked = threading.Event(), threading.Event(), 0
        self.pages_may_come.set()
        self.errors: list[BaseException] = []

    def page(self) -> bytes:
        self.pages_may_come.wait(30)
        return PAGE

    def status(self) -> AgentStatus:
        return bare_status()

    def plans(self) -> tuple[QueryPlan, ...]:
        self.asked += 1
        self.plans_may_come.wait(30)
        return ()

    def submit(self, assignment: Assignment) -> str | None:
        return None

    def failed(self, error: BaseException) -> None:
        self.errors.append(error)


@pytest.fixture
def desk() -> Desk:
    return Desk()


@pytest.fixture
def port(desk: Desk) -> Iterator[int]:
    server = AgentServer(desk, "0.0.0.0", 0, lambda _: "token")
    yield server.port
    desk.plans_may_come.set()
    desk.pages_may_come.set()
    server.close()


@pytest.fixture
def crowd() -> Iterator[contextlib.ExitStack]:
    """Connections that end with the test."""
    with contextlib.ExitStack() as stack:
        yield stack


def connect(crowd: contextlib.ExitStack, port: int, said: bytes = b"", host: str = "127.0.0.1") -> socket.socket:
    caller = crowd.enter_context(socket.create_connection(("127.0.0.1", port), 10, source_address=(host, 0)))
    with contextlib.suppress(OSError):  # hung up on already
        caller.sendall(said)
    return caller


def ask(port: int, path: str, method: str = "GET", body: bytes | None = None, host: str = "127.0.0.1") -> int:
    headers = {"Authorization": "Bearer token"} if body is not None else {}
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10, source_address=(host, 0))
    try:
        connection.request(method, path, body, headers)
        answer = connection.getresponse()
        answer.read()
        return answer.status
    finally:
        connection.close()


def everybody_else_is_answered(port: int) -> None:
    assert [ask(port, path) for path in ("/healthz", "/v1/status", "/metrics")] == [200, 200, 200]
    assert ask(port, "/v1/assignment", "PUT", PLAN) == 202


def test_plans_that_hang_keep_nobody_else_from_an_answer(desk: Desk, port: int, crowd: contextlib.ExitStack) -> None:
    for _ in range(MANY):
        connect(crowd, port, b"GET /v1/plans HTTP/1.0\r\n\r\n")
    everybody_else_is_answered(port)
    assert ask(port, "/v1/plans") == 503
    assert desk.asked == 1
    desk.plans_may_come.set()
    until_s = time.monotonic() + 60
    while (code := ask(port, "/v1/plans")) != 200:
        assert time.monotonic() < until_s, code
        time.sleep(0.02)


def test_pages_that_hang_keep_nobody_from_another_answer(desk: Desk, port: int, crowd: contextlib.ExitStack) -> None:
    desk.pages_may_come.clear()
    for _ in range(MANY):
        connect(crowd, port, b"GET /metrics HTTP/1.0\r\n\r\n")
    assert [ask(port, path) for path in ("/healthz", "/v1/status")] == [200, 200]
    assert ask(port, "/v1/assignment", "PUT", PLAN) == 202


@pytest.mark.parametrize("said", [b"", b"GET /v1/st", b"GET /v1/status HTTP/1.1\r\nHost: a\r\n"])
def test_who_says_nothing_or_half_of_it_makes_way(port: int, crowd: contextlib.ExitStack, said: bytes) -> None:
    for _ in range(MANY):
        connect(crowd, port, said)
    everybody_else_is_answered(port)


def test_who_does_not_read_its_page_leaves_pages_to_others(port: int, crowd: contextlib.ExitStack) -> None:
    for _ in range(MANY):
        connect(crowd, port, b"GET /metrics HTTP/1.0\r\n\r\n", host="127.0.0.2")
    everybody_else_is_answered(port)


def test_nobody_without_the_token_has_a_place_for_assignments(port: int, crowd: contextlib.ExitStack) -> None:
    for _ in range(MANY):
        connect(crowd, port, b"PUT /v1/assignment HTTP/1.0\r\nContent-Length: 8000\r\n\r\n")
    everybody_else_is_answered(port)


def test_a_body_that_drips_has_its_time_and_no_more(
    desk: Desk, port: int, crowd: contextlib.ExitStack, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(server_module, "_BODY_S", 0.2)
    head = b"PUT /v1/assignment HTTP/1.0\r\nAuthorization: Bearer token\r\nContent-Length: 1000000\r\n\r\n"
    caller = connect(crowd, port, head)
    caller.settimeout(0.02)
    answer, until_s = b"", time.monotonic() + 60
    while not answer:
        assert time.monotonic() < until_s
        with contextlib.suppress(OSError):
            caller.sendall(b"x")
        with contextlib.suppress(TimeoutError):
            answer = caller.recv(1000)
    assert answer.startswith(b"HTTP/1.0 408 ")
    assert desk.errors == []


def test_a_flood_of_headers_is_hung_up_on(port: int, crowd: contextlib.ExitStack) -> None:
    caller = connect(crowd, port, b"GET /healthz HTTP/1.1\r\n")
    line, sent = b"X: " + b"x" * 60_000 + b"\r\n", 0
    with contextlib.suppress(ConnectionError):
        for _ in range(90):  # http.server takes 100 of 64 KiB from each caller
            caller.sendall(line)
            sent += 1
        caller.sendall(b"\r\n")
        assert not caller.recv(1000).startswith(b"HTTP/1.0 200")
    assert ask(port, "/healthz") == 200
