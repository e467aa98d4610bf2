"""A question to a Prometheus has one limit for all of it: who answers may be anybody, and may drip.

A timeout of sockets begins anew with each byte, and a server that asks for patience would be waited for for hours.
"""

from __future__ import annotations

import contextlib
import functools
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

from requests.adapters import HTTPAdapter
from urllib3 import BaseHTTPResponse, HTTPConnectionPool, HTTPSConnectionPool
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.exceptions import InvalidHeader
from urllib3.util.retry import Retry

from streamjob_operator.agent_http.bounded_head import BoundedAnswer
from streamjob_operator.deadlines import DEADLINES, Deadline

MOST_PATIENCE_S = 5.0


class Patience(Retry):
    """Once more where nothing was answered or "later" was, which is waited for up to MOST_PATIENCE_S."""

    def get_retry_after(self, response: BaseHTTPResponse) -> float | None:
        """Seconds that the server asks for, None where it does not ask for any."""
        try:
            asked = super().get_retry_after(response)
        except InvalidHeader:
            return None
        return None if asked is None else min(asked, MOST_PATIENCE_S)


class Whole:
    """Cuts the connections of one session once a question has taken `seconds`, whatever came by then.

    One question at a time.
    """

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds
        self._lock = threading.Lock()
        self._sockets: list[socket.socket] = []
        self._overdue = threading.Event()
        self._timer: Deadline | None = None
        self._due_s = 0.0

    @contextlib.contextmanager
    def limited(self) -> Iterator[threading.Event]:
        """The time of one question; the event says that it was over."""
        overdue = self._overdue = threading.Event()
        self._start(self._seconds)
        try:
            yield overdue
        finally:
            self._stop()

    @contextlib.contextmanager
    def waiting(self, then_s: float) -> Iterator[None]:
        """Within a question: what is waited for on our side does not count. It has `then_s` at most afterwards."""
        self._stop()
        left_s = self._due_s - time.monotonic()
        try:
            yield
        finally:
            self._start(max(0.0, min(left_s, then_s)))

    def _start(self, seconds: float) -> None:
        self._due_s = time.monotonic() + seconds
        self._timer = DEADLINES.after(seconds, functools.partial(self._cut, self._overdue))

    def _stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def took(self, made: socket.socket) -> None:
        """A connection was made; after the time was over it is of no use."""
        with self._lock:
            self._sockets = [*(one for one in self._sockets if one.fileno() >= 0), made]
        if self._overdue.is_set():
            _hang_up(made)

    def _cut(self, overdue: threading.Event) -> None:
        overdue.set()
        with self._lock:
            open_ones = list(self._sockets)
        for one in open_ones:
            _hang_up(one)


class WholeAdapter(HTTPAdapter):
    """Tells `whole` of every connection that it makes."""

    def __init__(self, whole: Whole, retry: Retry) -> None:
        self._whole = whole
        super().__init__(max_retries=retry)

    def init_poolmanager(self, *args: Any, **kwargs: Any) -> None:
        """As in the base class, with connections of ours."""
        super().init_poolmanager(*args, **kwargs)
        self.poolmanager.pool_classes_by_scheme = _pools(self._whole)


def _pools(whole: Whole) -> dict[str, type[HTTPConnectionPool]]:
    class Plain(HTTPConnection):
        response_class = BoundedAnswer

        def connect(self) -> None:
            super().connect()
            whole.took(self.sock)

    class Secret(HTTPSConnection):
        response_class = BoundedAnswer

        def connect(self) -> None:
            super().connect()
            whole.took(self.sock)

    return {
        "http": type("Pool", (HTTPConnectionPool,), {"ConnectionCls": Plain}),
        "https": type("SecretPool", (HTTPSConnectionPool,), {"ConnectionCls": Secret}),
    }


def _hang_up(connection: socket.socket) -> None:
    """End whatever waits for the peer; of TLS, too, whose own shutdown would talk to it."""
    with contextlib.suppress(OSError):  # closed already
        socket.socket.shutdown(connection, socket.SHUT_RDWR)
