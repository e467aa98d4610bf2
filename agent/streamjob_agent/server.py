"""The agent's HTTP side: metrics and status out, assignments in. Standard library only, silent, bounded."""

from __future__ import annotations

import contextlib
import hmac
import pathlib
import socket
import threading
import time
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler
from typing import Any, Protocol

from streamjob_agent.callers import BoundedHead, Callers
from streamjob_agent.drafts import write_whole
from streamjob_agent.listening import EVERYWHERE, WideServer, shown
from streamjob_agent.plan_form import QueryPlan, plans_to_json
from streamjob_agent.textformat import CONTENT_TYPE
from streamjob_agent.wire import AgentStatus, Assignment, WireError, assignment_from_json, status_to_json

MOST_BODY_BYTES = 8 * 2**20
_MOST_CALLERS = 16  # at once
_REQUEST_TIMEOUT_S = 30.0
_BODY_S = 30.0  # for all of it, however it drips
_IDLE_S = 30.0  # between two looks of whoever waits for callers; to close, it is woken up
_BREATH_S = 0.5  # before the next caller where one could not be let in
_UNAUTHORISED = (
    b"Authorization: the agent's token is needed as Bearer TOKEN, and this is not it. It is the driver's "
    b"STREAMJOB_AGENT_TOKEN where that is set, else in ~/.streamjob/agents of the driver's user.\n"
)
_MADE = {"/metrics": 5, "/v1/status": 4, "/v1/plans": 2}
"""Pages that take a while when there are many key groups, or for ever; and how many may ask for each at once."""
_ASSIGNMENT = "/v1/assignment"
_BUSY = b"Others ask for the same just now, as many as may; ask again in a second.\n"
_JSON = "application/json"
_TEXT = "text/plain; charset=utf-8"
Answer = tuple[int, str, bytes]


class Desk(Protocol):
    """Who answers the requests. May raise anything: the caller gets a 500, the job nothing."""

    def page(self) -> bytes:
        """The Prometheus page."""

    def status(self) -> AgentStatus:
        """The agent's status now."""

    def plans(self) -> tuple[QueryPlan, ...]:
        """The plans of the queries that run."""

    def submit(self, assignment: Assignment) -> str | None:
        """Take an assignment; why it is refused, None when it is taken."""

    def failed(self, error: BaseException) -> None:
        """Count an error that a request ran into."""


class AgentServer:
    """Listens from the moment it is made until :meth:`close`. Raises OSError when the address cannot be bound.

    `token` gives for its port what an assignment must carry. As long as nobody knows that, none is taken.
    """

    def __init__(self, desk: Desk, host: str, port: int, token: Callable[[int], str | None]) -> None:
        turns = {path: threading.Lock() for path in _MADE}
        callers = Callers(_MOST_CALLERS, {**_MADE, _ASSIGNMENT: 2})
        known = {"desk": desk, "token": None, "body": threading.Lock(), "turns": turns, "callers": callers}
        handler = type("BoundHandler", (_Handler,), known)
        self._http = _QuietServer((host, port), handler, callers)
        handler.token = token(self.port)  # type: ignore[attr-defined]
        self._thread = threading.Thread(
            target=self._http.serve_forever, kwargs={"poll_interval": _IDLE_S}, name="streamjob-agent-http", daemon=True
        )
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._http.server_address[1])

    def write_address(self, path: str, host: str) -> None:
        """Write `http://host:port` to a file, atomically. Raises OSError."""
        where = "127.0.0.1" if host in EVERYWHERE else shown(host)
        target = pathlib.Path(path)
        target.parent.mkdir(parents=True, exist_ok=True)
        write_whole(target, f"http://{where}:{self.port}\n")

    def close(self) -> None:
        """Stop listening."""
        ending = threading.Thread(target=self._http.shutdown, daemon=True)
        ending.start()
        with contextlib.suppress(OSError):
            self._http.socket.shutdown(socket.SHUT_RDWR)  # its thread waits for a caller
        ending.join(timeout=2.0)
        self._http.server_close()
        self._thread.join(timeout=2.0)


class _QuietServer(WideServer):
    daemon_threads = True
    request_queue_size = 16

    def __init__(self, address: tuple[str, int], handler: type[BaseHTTPRequestHandler], callers: Callers) -> None:
        super().__init__(address, handler)
        self._callers = callers

    def get_request(self) -> tuple[Any, Any]:
        """The next caller; a driver that has no files left is not to spin as well, since the caller still knocks."""
        try:
            return super().get_request()
        except OSError:
            time.sleep(_BREATH_S)
            raise

    def process_request(self, request: Any, client_address: Any) -> None:
        """Each caller is a thread in the user's driver: of those above the limit one is hung up on."""
        if not self._callers.come(request):
            self.shutdown_request(request)
            return
        try:
            super().process_request(request, client_address)
        except BaseException:  # no thread could be started: the caller is gone, its place is free
            self._callers.go(request)
            raise

    def process_request_thread(self, request: Any, client_address: Any) -> None:
        """One caller, to its end."""
        try:
            super().process_request_thread(request, client_address)
        finally:
            self._callers.go(request)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A caller that hung up is no event; the base class would print a traceback into the job's output."""


class _Handler(BaseHTTPRequestHandler):
    desk: Desk
    token: str | None
    body: threading.Lock  # of all callers, one has its body read and taken in
    turns: Mapping[str, threading.Lock]  # and of those that ask for a page, one has it made
    callers: Callers
    timeout = _REQUEST_TIMEOUT_S
    server_version = "streamjob-agent"
    sys_version = ""

    def setup(self) -> None:
        """Before the request is read."""
        super().setup()
        self.rfile: Any = BoundedHead(self.rfile)

    def do_GET(self) -> None:
        """Metrics, status, plans, health."""
        routes = {
            "/metrics": self._metrics,
            "/v1/status": self._status,
            "/v1/plans": self._plans,
            "/healthz": self._health,
        }
        path = self.path.partition("?")[0]
        self._answer(routes.get(path, self._not_found))

    def do_PUT(self) -> None:
        """An assignment."""
        self._answer(self._assign if self.path == _ASSIGNMENT else self._not_found)

    def _answer(self, route: Callable[[], Answer]) -> None:
        try:
            code, kind, body = route()
        except Exception as error:  # noqa: BLE001 - an error of ours must not fill the job's output
            self.desk.failed(error)
            code, kind, body = 500, _TEXT, b"The agent could not answer; its status counts the error.\n"
        self.send_response(code)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def _metrics(self) -> Answer:
        return self._made("/metrics", CONTENT_TYPE, self.desk.page)

    def _status(self) -> Answer:
        return self._made("/v1/status", _JSON, lambda: status_to_json(self.desk.status()).encode())

    def _plans(self) -> Answer:
        return self._made("/v1/plans", _JSON, lambda: plans_to_json(self.desk.plans()).encode())

    def _made(self, path: str, kind: str, page: Callable[[], bytes]) -> Answer:
        if not self._has_place(path):
            return 503, _TEXT, _BUSY
        with self.turns[path]:
            return 200, kind, page()

    def _has_place(self, kind: str) -> bool:
        """Whether another caller may ask for that: whatever hangs there, other kinds keep their places."""
        return self.callers.ask(self.connection, kind, str(self.client_address[0]))

    @staticmethod
    def _health() -> Answer:
        return 200, _TEXT, b"ok\n"

    def _not_found(self) -> Answer:
        sentence = (
            "not found; GET /metrics, GET /v1/status, GET /v1/plans, GET /healthz and PUT /v1/assignment are known.\n"
        )
        return 404, _TEXT, sentence.encode()

    def _assign(self) -> Answer:
        if not self._authorised():
            self.close_connection = True
            return 401, _TEXT, _UNAUTHORISED
        length = self.headers.get("Content-Length", "")
        if not (length.isascii() and length.isdecimal()) or len(length) > 18:
            self.close_connection = True
            return 411, _TEXT, b"Content-Length: a whole number of bytes is needed.\n"
        if int(length) > MOST_BODY_BYTES:
            self.close_connection = True
            return 413, _TEXT, f"body: {length} bytes given, at most {MOST_BODY_BYTES} are read.\n".encode()
        if not self._has_place(_ASSIGNMENT):
            return 503, _TEXT, _BUSY
        with self.body:
            body = self._read(int(length))
            return (408, _TEXT, b"body: it did not come in time.\n") if body is None else self._take(body)

    def _read(self, length: int) -> bytes | None:
        """The body, or what came of it before the caller hung up; None where it took too long."""
        body, until_s = bytearray(), time.monotonic() + _BODY_S
        while len(body) < length:
            left_s = until_s - time.monotonic()
            if left_s <= 0:
                return None
            self.connection.settimeout(left_s)
            try:
                piece = self.rfile.read1(length - len(body))
            except TimeoutError:
                return None
            if not piece:
                break
            body += piece
        self.connection.settimeout(self.timeout)
        return bytes(body)

    def _take(self, body: bytes) -> Answer:
        try:
            assignment = assignment_from_json(body)
        except WireError as error:
            return 400, _TEXT, _line(str(error))
        refused = self.desk.submit(assignment)
        if refused is not None:
            return 409, _TEXT, _line(refused)
        return 202, _JSON, status_to_json(self.desk.status()).encode()

    def _authorised(self) -> bool:
        given = self.headers.get("Authorization", "")
        return self.token is not None and hmac.compare_digest(given.encode(), f"Bearer {self.token}".encode())

    def log_message(self, format: str, *args: Any) -> None:
        """Requests are not written into the job's output."""


def _line(sentence: str) -> bytes:
    """A sentence as an answer's body; it may quote text of the caller's that no encoding has."""
    return f"{sentence}\n".encode(errors="backslashreplace")
