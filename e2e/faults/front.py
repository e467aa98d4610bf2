"""What stands between the operator and its Prometheus: passes on, or plays a part."""

from __future__ import annotations

import threading
import urllib.error
import urllib.request
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler
from types import TracebackType

from e2e.loopback import OnLoopback

Answer = tuple[int, str, bytes]
_EMPTY = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
_TIME = "time%28%29"  # the one query that a Prometheus without series answers, too


class Front(OnLoopback):
    """An HTTP server on loopback; a context manager."""

    def __init__(self, upstream: str) -> None:
        super().__init__(type("Bound", (_Handler,), {"front": self}))
        self._upstream = upstream
        self._part: Callable[[str], Answer] = self._passed
        self._stopping = threading.Event()
        self.url = f"http://{self.address}"

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._stopping.set()
        super().__exit__(kind, error, trace)

    def heal(self) -> None:
        """Pass everything on again."""
        self._part = self._passed

    def answer(self, status: int, kind: str, body: bytes) -> None:
        """The same answer to everything."""
        self._part = lambda _: (status, kind, body)

    def hang(self) -> None:
        """No answer within a minute."""
        self._part = self._hanging

    def empty(self) -> None:
        """A Prometheus that knows the time and nothing else."""
        self._part = lambda path: self._passed(path) if _TIME in path else (200, "application/json", _EMPTY)

    def say(self, path: str) -> Answer:
        """The answer of the moment."""
        return self._part(path)

    def _passed(self, path: str) -> Answer:
        try:
            with urllib.request.urlopen(self._upstream + path, timeout=30) as answer:
                return answer.status, answer.headers["Content-Type"], answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.headers.get("Content-Type", "text/plain"), error.read()
        except OSError as error:
            return 502, "text/plain", str(error).encode()

    def _hanging(self, _: str) -> Answer:
        self._stopping.wait(60.0)
        return 504, "text/plain", b"nobody answered"


class _Handler(BaseHTTPRequestHandler):
    front: Front

    def do_GET(self) -> None:
        status, kind, body = self.front.say(self.path)
        try:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)
        except OSError:
            self.close_connection = True  # the caller has given up

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
