"""/healthz, /readyz and /metrics of the operator, in a thread of their own."""

from __future__ import annotations

import http.server
import threading
from collections.abc import Callable
from types import TracebackType

from prometheus_client import CollectorRegistry, generate_latest
from prometheus_client.exposition import CONTENT_TYPE_LATEST

Check = Callable[[], str | None]
"""What is wrong, as a sentence; None when all is well."""
LONGEST_WAIT_S = 10.0
"""For the next byte of a request: each connection has a thread, and any pod may open one."""
_TEXT = "text/plain; charset=utf-8"


class HealthServer:
    """Serves from `start` to `stop`; use as a context manager."""

    def __init__(self, address: str, port: int, *, alive: Check, ready: Check, registry: CollectorRegistry) -> None:
        bound = {"alive": alive, "ready": ready, "registry": registry, "timeout": LONGEST_WAIT_S}
        handler = type("BoundHandler", (_Handler,), bound)
        self._server = http.server.ThreadingHTTPServer((address, port), handler)
        self._server.daemon_threads = True
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


class _Handler(http.server.BaseHTTPRequestHandler):
    alive: Check
    ready: Check
    registry: CollectorRegistry

    def do_GET(self) -> None:
        """Answer one of the three pages."""
        page = self.path.partition("?")[0]
        if page == "/metrics":
            self._answer(200, CONTENT_TYPE_LATEST, generate_latest(self.registry))
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
