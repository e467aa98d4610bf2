"""HTTP to the agent: four requests, every failure an `Unavailable` with a sentence."""

from __future__ import annotations

import http.client
import urllib.error
import urllib.request
from collections.abc import Callable
from pathlib import Path

from streamjob_agent.plan_form import QueryPlan, plans_from_json
from streamjob_agent.wire import AgentStatus, Assignment, WireError, assignment_to_json, status_from_json
from streamjob_operator.ports import Unavailable

MAX_BODY_BYTES = 64 * 1024 * 1024
REFUSED = 409


class Refused(Exception):
    """The agent did not take the assignment; the text is its sentence, "Code: sentence"."""


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
    """Talks to the agent at `address()`. Proxies of the environment are not used: the agent is near."""

    def __init__(self, address: Callable[[], str], *, timeout_s: float = 5.0, token: str | None = None) -> None:
        self._address = address
        self._timeout_s = timeout_s
        self._token = token
        self._open = urllib.request.build_opener(urllib.request.ProxyHandler({})).open

    def page(self) -> str:
        """The metrics page; raises Unavailable."""
        return self._ask("/metrics").decode("utf-8", errors="replace")

    def status(self) -> AgentStatus:
        """The agent's status; raises Unavailable."""
        try:
            return status_from_json(self._ask("/v1/status"))
        except WireError as error:
            raise Unavailable(f"The agent's status cannot be read: {error}.") from error

    def plans(self) -> tuple[QueryPlan, ...]:
        """The plans of the queries that run; raises Unavailable."""
        try:
            return plans_from_json(self._ask("/v1/plans"))
        except WireError as error:
            raise Unavailable(f"The agent's plans cannot be read: {error}.") from error

    def assign(self, assignment: Assignment) -> None:
        """Hand the assignment over; raises Refused with the agent's sentence, or Unavailable."""
        self._ask("/v1/assignment", assignment_to_json(assignment).encode())

    def _ask(self, path: str, body: bytes | None = None) -> bytes:
        url = self._address() + path
        headers = {"Content-Type": "application/json"}
        if self._token is not None:
            headers["Authorization"] = f"Bearer {self._token}"
        request = urllib.request.Request(url, data=body, headers=headers, method="GET" if body is None else "PUT")
        try:
            with self._open(request, timeout=self._timeout_s) as answer:
                return _whole(answer.read(MAX_BODY_BYTES + 1), answer.headers.get("Content-Length"), url)
        except urllib.error.HTTPError as error:
            sentence = error.read(10_000).decode("utf-8", errors="replace").strip()
            if error.code == REFUSED:
                raise Refused(sentence) from error
            raise Unavailable(f"The agent at {url} answered {error.code}: {sentence or error.reason}") from error
        except (OSError, http.client.HTTPException, ValueError) as error:
            raise Unavailable(f"The agent at {url} does not answer: {_reason(error)}.") from error


def _whole(body: bytes, promised: str | None, url: str) -> bytes:
    """The body, unless it is too long or cut off: half a page would look like key groups that went idle."""
    if len(body) > MAX_BODY_BYTES:
        raise Unavailable(f"The agent at {url} sent more than {MAX_BODY_BYTES} bytes.")
    if promised is not None and promised != str(len(body)):
        raise Unavailable(f"The agent at {url} sent {len(body)} of {promised} bytes.")
    return body


def _reason(error: Exception) -> str:
    reason = getattr(error, "reason", error)
    return str(reason) or type(error).__name__
