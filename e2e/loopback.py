"""An HTTP server on loopback in a thread of its own, for parts that are played in front of programs under test."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType
from typing import Self


class OnLoopback:
    """Serves while its context lasts, at a port that the system gives. `poll_s` is what ending takes at most."""

    def __init__(self, handler: type[BaseHTTPRequestHandler], poll_s: float = 0.1) -> None:
        self._http = ThreadingHTTPServer(("127.0.0.1", 0), handler)
        self._http.daemon_threads = True
        self._thread = threading.Thread(target=self._http.serve_forever, args=(poll_s,), daemon=True)
        self.address = f"127.0.0.1:{self._http.server_address[1]}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._http.shutdown()
        self._http.server_close()
        self._thread.join(5.0)
