"""One connection to the API server that is kept from request to request: a handshake for each costs both ends more."""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import ssl
import threading
import time
import urllib.parse
from collections.abc import Callable, Iterator, Mapping

LONGEST_S = 300.0
"""After which a new one is made: where several API servers stand behind one address, the agents of one that was away
find their way back to it."""
Trust = Callable[[], ssl.SSLContext | None]
_GONE = (ConnectionError, ssl.SSLEOFError, ssl.SSLZeroReturnError)
"""What a server that has closed an idle connection looks like; http.client's RemoteDisconnected is among them."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """What is asked; `path` is below the server's own."""

    method: str
    path: str
    headers: Mapping[str, str]
    body: bytes | None = None


class Connection:
    """Requests to one server, one after the other; a thread that asks while another reads its answer waits.

    A request that finds the kept connection closed is sent once more on a new one, so it must be one that may come
    twice. No proxy, no redirect. `timeout_s` is for each wait. Whom to `trust` is asked for each new connection.
    """

    def __init__(self, timeout_s: float, clock: Callable[[], float] = time.monotonic) -> None:
        self._timeout_s = timeout_s
        self._clock = clock
        self._lock = threading.RLock()  # of a watch that was left in the middle the same thread may ask again
        self._peer: http.client.HTTPConnection | None = None
        self._made_s = 0.0

    @contextlib.contextmanager
    def ask(self, server: str, trust: Trust, request: Request) -> Iterator[http.client.HTTPResponse]:
        """The answer, to be read within the context; raises OSError or http.client.HTTPException where there is none.

        The connection is kept where the answer was read to its end.
        """
        with self._lock:
            answer = self._answer(server, trust, request)
            try:
                yield answer
            finally:
                if not answer.isclosed():
                    self._drop()

    def _answer(self, server: str, trust: Trust, request: Request) -> http.client.HTTPResponse:
        at = urllib.parse.urlsplit(server)
        if self._peer is not None and self._clock() - self._made_s < LONGEST_S:
            with contextlib.suppress(*_GONE):
                return self._sent(self._peer, at.path, request)
        self._drop()
        self._peer, self._made_s = _peer(at, trust(), self._timeout_s), self._clock()
        return self._sent(self._peer, at.path, request)

    def _sent(self, peer: http.client.HTTPConnection, below: str, request: Request) -> http.client.HTTPResponse:
        try:
            peer.request(request.method, below + request.path, request.body, dict(request.headers))
            return peer.getresponse()
        except BaseException:
            self._drop()
            raise

    def _drop(self) -> None:
        """The next request has a connection of its own."""
        if self._peer is not None:
            self._peer.close()
            self._peer = None


def _peer(at: urllib.parse.SplitResult, context: ssl.SSLContext | None, timeout_s: float) -> http.client.HTTPConnection:
    """Not connected yet: the first request does that."""
    host = at.hostname or ""
    if at.scheme == "https":
        return http.client.HTTPSConnection(host, at.port, context=context, timeout=timeout_s)
    return http.client.HTTPConnection(host, at.port, timeout=timeout_s)
