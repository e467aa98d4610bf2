"""/healthz, /readyz and /metrics of the operator, in threads of their own.

Any pod of the cluster may ask, as often as it likes and as slowly: the kubelet's probes are answered all the same, and
the operator's own work goes on.
"""

from __future__ import annotations

import contextlib
import http.server
import socket
import threading
import time
from collections.abc import Callable
from types import TracebackType
from typing import Any

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

from streamjob_agent.listening import WideServer

Check = Callable[[], str | None]
"""What is wrong, as a sentence; None when all is well."""
LONGEST_WAIT_S = 10.0
"""For the next byte of a request."""
MOST_CONNECTIONS = 64
"""Each has a thread. Where one more comes, the oldest is hung up: a probe has come last, and takes a moment."""
KEPT_S, KEPT_RATIO = 1.0, 10.0
"""A page of metrics is made anew after so long, and after so many times what making it took: a thousand jobs have tens
of thousands of series."""
_TEXT = "text/plain; charset=utf-8"


class HealthServer:
    """Serves from `start` to `stop`; use as a context manager."""

    def __init__(self, address: str, port: int, *, alive: Check, ready: Check, registry: CollectorRegistry) -> None:
        bound = {"alive": alive, "ready": ready, "metrics": KeptPage(registry), "timeout": LONGEST_WAIT_S}
        self._server = _Server((address, port), type("BoundHandler", (_Handler,), bound))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.1,), name="health", daemon=True)

    @property
    def port(self) -> int:
        """The port that it listens on."""
        return int(self._server.server_port)

    def __enter__(self) -> HealthServer:
        self._thread.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


class KeptPage:
    """The page of a registry, which is not made for everybody who asks; for several threads."""

    def __init__(self, registry: CollectorRegistry, clock: Callable[[], float] = time.monotonic) -> None:
        self._registry = registry
        self._clock = clock
        self._lock = threading.Lock()
        self._text, self._until_s = b"", float("-inf")

    def text(self) -> bytes:
        """As it is now, or was a moment ago."""
        with self._lock:
            begun_s = self._clock()
            if begun_s >= self._until_s:
                self._text = generate_latest(self._registry)
                ended_s = self._clock()
                self._until_s = ended_s + max(KEPT_S, KEPT_RATIO * (ended_s - begun_s))
            return self._text


class _Server(WideServer):
    daemon_threads = True
    request_queue_size = 2 * MOST_CONNECTIONS

    def __init__(self, address: tuple[str, int], handler: type[http.server.BaseHTTPRequestHandler]) -> None:
        self._open: dict[socket.socket, None] = {}  # oldest first
        self._lock = threading.Lock()
        super().__init__(address, handler)

    def process_request(self, request: Any, client_address: Any) -> None:
        """See socketserver; this comes in the one thread that accepts."""
        with self._lock:
            self._open[request] = None
            too_many = [*self._open][:-MOST_CONNECTIONS]
        for one in too_many:
            with contextlib.suppress(OSError):  # it has just gone by itself
                one.shutdown(socket.SHUT_RDWR)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        """See socketserver."""
        with self._lock:
            self._open.pop(request, None)
        super().shutdown_request(request)

    def handle_error(self, *_: object) -> None:
        """Who was hung up, or went, is no error of ours."""


class _Handler(http.server.BaseHTTPRequestHandler):
    alive: Check
    ready: Check
    metrics: KeptPage

    def do_GET(self) -> None:
        """Answer one of the three pages."""
        page = self.path.partition("?")[0]
        if page == "/metrics":
            self._answer(200, CONTENT_TYPE_LATEST, type(self).metrics.text())
        elif page in ("/healthz", "/readyz"):
            wrong = type(self).alive() if page == "/healthz" else type(self).ready()
            self._answer(200 if wrong is None else 503, _TEXT, f"{wrong or 'ok'}\n".encode())
        else:
            self._answer(404, _TEXT, b"There are /healthz, /readyz and /metrics.\n")

    def _answer(self, status: int, kind: str, body: bytes) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Probes every few seconds are not worth a line."""
