"""HTTP to the agent: four requests, every failure an `Unavailable` with a sentence of ours."""

from __future__ import annotations

import contextlib
import functools
import http
import http.client
import socket
import threading
import urllib.parse
from collections.abc import Callable
from pathlib import Path

from streamjob_agent.plan_form import QueryPlan, plans_from_json
from streamjob_agent.tokens import find
from streamjob_agent.wire import AgentStatus, Assignment, WireError, assignment_to_json, status_from_json
from streamjob_operator.agent_http.bounded_head import BoundedAnswer
from streamjob_operator.agent_words import shortened
from streamjob_operator.deadlines import DEADLINES
from streamjob_operator.ports import Unavailable

MAX_BODY_BYTES = 64 * 1024 * 1024
MOST_STATUS_BYTES = 16 * 1024 * 1024
"""Of a status: a million key groups with the number of an executor each, 10,000 executors of a few hundred bytes."""
MOST_OBJECTS, MOST_PARTS = 200_000, 2_000_000
"""Of a status: an object for each of 10,000 executors, and a comma for each of a million key groups."""
MOST_SAID_BYTES = 10_000
REFUSED = 409


class Refused(Exception):
    """The agent did not take the assignment; the text is its sentence, "Code: sentence"."""


class TooLarge(Unavailable):
    """The answer has more bytes than were asked for."""


def fixed_address(address: str) -> Callable[[], str]:
    """An address that does not change."""
    full = address if "://" in address else f"http://{address}"
    return lambda: full.rstrip("/")


def address_from(path: Path) -> Callable[[], str]:
    """The address that the agent writes into a file; read anew each time, because each driver has a new one."""

    def read() -> str:
        try:
            text = path.read_text(encoding="utf-8").strip()
        except FileNotFoundError as error:
            raise Unavailable("The driver's agent is not up yet: it has not written its address.") from error
        except OSError as error:
            raise Unavailable(f"The agent's address in {path} cannot be read: {error}.") from error
        if not text:
            raise Unavailable(f"The agent's address in {path} is empty.")
        return text.rstrip("/")

    return read


class AgentClient:
    """Talks to the agent at `address()`: plain HTTP to that host and port, no proxy, no redirect, nothing else.

    An assignment carries `token`, or the one that an agent of this user and machine has left for its user alone.

    What answers may be anything, and sentences reach people who may not read it: only the agent's own refusal of an
    assignment is repeated. `timeout_s` is for each wait, `whole_s` for a whole answer, however it drips.
    """

    def __init__(
        self, address: Callable[[], str], *, timeout_s: float = 5.0, whole_s: float = 30.0, token: str | None = None
    ) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._whole_s = whole_s
        self._token = token

    def page(self, most_bytes: int = MAX_BODY_BYTES) -> bytes:
        """The metrics page; raises Unavailable, TooLarge where it has more bytes, mostly before they are sent."""
        return self._ask("/metrics", most_bytes=most_bytes)

    def status(self) -> AgentStatus:
        """The agent's status; raises Unavailable."""
        try:
            return shortened(status_from_json(_bounded(self._ask("/v1/status", most_bytes=MOST_STATUS_BYTES))))
        except (WireError, TypeError) as error:
            # The error quotes what was read, the condition must not.
            raise Unavailable("The agent's status cannot be read: it is not in the form of this version.") from error

    def plans(self) -> tuple[QueryPlan, ...]:
        """The plans of the queries that run; raises Unavailable."""
        try:
            return plans_from_json(self._ask("/v1/plans"))
        except WireError as error:
            raise Unavailable("The agent's plans cannot be read: they are not in the form of this version.") from error

    def assign(self, assignment: Assignment) -> None:
        """Hand the assignment over; raises Refused with the agent's sentence, or Unavailable."""
        self._ask("/v1/assignment", assignment_to_json(assignment).encode())

    def _ask(self, path: str, body: bytes | None = None, most_bytes: int = MAX_BODY_BYTES) -> bytes:
        address = self._address()
        host, port = _host_and_port(address)
        headers = {"Content-Type": "application/json"}
        token = None if body is None else self._token or find(address + path)
        if token is not None:
            headers["Authorization"] = f"Bearer {token}"
        peer = http.client.HTTPConnection(host, port, timeout=self._timeout_s)
        peer.response_class = BoundedAnswer
        overdue = threading.Event()
        watchdog = DEADLINES.after(self._whole_s, functools.partial(_hang_up, peer, overdue))
        try:
            peer.request("GET" if body is None else "PUT", path, body, headers)
            taken = _taken(peer.getresponse(), address + path, most_bytes, refusable=body is not None)
            if overdue.is_set():  # what was cut off looks like an end
                raise TimeoutError
            return taken
        except (OSError, http.client.HTTPException, ValueError) as error:
            why = f"not wholly within {self._whole_s:g} s" if overdue.is_set() else _reason(error)
            raise Unavailable(f"The agent at {address + path} does not answer: {why}.") from error
        finally:
            watchdog.cancel()
            peer.close()


def _host_and_port(address: str) -> tuple[str, int]:
    try:
        parts = urllib.parse.urlsplit(address)
        host, port = parts.hostname, parts.port
    except ValueError:
        host, port = None, None
    if host is None or port is None or parts.scheme != "http" or parts.path or parts.query:
        raise Unavailable(f"The agent's address is {address[:200]!r}; http://HOST:PORT is needed.")
    return host, port


def _hang_up(peer: http.client.HTTPConnection, overdue: threading.Event) -> None:
    """End whatever waits for the peer."""
    overdue.set()
    with contextlib.suppress(OSError, AttributeError):  # not connected yet, or closed already
        peer.sock.shutdown(socket.SHUT_RDWR)


def _taken(answer: http.client.HTTPResponse, url: str, most_bytes: int, *, refusable: bool) -> bytes:
    """`refusable`: whether something was asked that an agent may refuse; it refuses no reading."""
    if refusable and answer.status == REFUSED:
        raise Refused(answer.read(MOST_SAID_BYTES).decode("utf-8", errors="replace").strip())
    if answer.status == http.HTTPStatus.UNAUTHORIZED:
        raise Unavailable(f"The agent at {url} wants its token: set STREAMJOB_AGENT_TOKEN.")
    if not 200 <= answer.status < 300:
        raise Unavailable(f"The agent at {url} answered {answer.status}{_phrase(answer.status)}.")
    promised, length = answer.headers.get("Content-Length"), answer.length or 0
    body = b"" if length > most_bytes else answer.read(most_bytes + 1)
    if max(length, len(body)) > most_bytes:
        raise TooLarge(f"The agent at {url} sent more than {most_bytes} bytes.")
    return _whole(body, promised, url)


def _bounded(body: bytes) -> bytes:
    """The body, unless it has more parts than any status: a small text of empty lists makes gigabytes of them."""
    if body.count(b"{") + body.count(b"[") > MOST_OBJECTS or body.count(b",") > MOST_PARTS:
        raise WireError("it has more parts than any status")
    return body


def _phrase(status: int) -> str:
    """Our words for it, not those that were sent."""
    return f" {http.HTTPStatus(status).phrase}" if status in set(http.HTTPStatus) else ""


def _whole(body: bytes, promised: str | None, url: str) -> bytes:
    """The body, unless it is cut off: half a page would look like key groups that went idle."""
    if promised is not None and promised != str(len(body)):
        raise Unavailable(f"The agent at {url} did not send its whole answer, {len(body)} bytes of it.")
    return body


def _reason(error: Exception) -> str:
    """Of the network's errors the words; of those about what was sent only the kind, as they quote it."""
    told = error.strerror or str(error) if isinstance(error, OSError) else ""
    return told or f"it does not speak HTTP as it should ({type(error).__name__})"
