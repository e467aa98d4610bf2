"""An HTTPS proxy in front of a real API server that misbehaves by rule: errors, silence, watches cut off.

It logs in with an administrator's certificate of its own: whoever talks to it is one.
"""

from __future__ import annotations

import contextlib
import dataclasses
import http.client
import json
import re
import socket
import ssl
import threading
import uuid
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from types import TracebackType
from urllib.parse import parse_qs, urlsplit

from e2e.cluster import pki
from e2e.cluster.controlplane import ControlPlane
from e2e.loopback import OnLoopback

_HOP = ("connection", "transfer-encoding", "content-length", "keep-alive")
_REASONS = {409: "Conflict", 429: "TooManyRequests", 500: "InternalError", 503: "ServiceUnavailable"}
_CHUNK = 64 * 1024


@dataclasses.dataclass(slots=True, kw_only=True)
class Rule:
    """What happens to requests that fit; the first rule that fits counts.

    Attributes:
        method, path: regular expressions over the whole verb (GET, PATCH, ..., DRY-POST for a dry run) and the path
            without its query.
        watch: only watches (True), only other requests (False), or both (None).
        times: how often it applies; None for ever.
        status: answer this in the server's place.
        retry_after_s: header of such an answer.
        after: let the server do it first, so that the client does not know that it was done.
        hang_s: answer nothing for so long, then cut the connection.
        cut_after_s: cut an answer (a watch) off after so long.
    """

    method: str = ".*"
    path: str = ".*"
    watch: bool | None = None
    times: int | None = None
    status: int | None = None
    retry_after_s: int | None = None
    after: bool = False
    hang_s: float | None = None
    cut_after_s: float | None = None
    applied: int = 0

    def fits(self, method: str, path: str, *, watch: bool) -> bool:
        """Whether it speaks of this request."""
        return (
            (self.times is None or self.applied < self.times)
            and self.watch in (None, watch)
            and re.fullmatch(self.method, method) is not None
            and re.fullmatch(self.path, path) is not None
        )


class FaultProxy(OnLoopback):
    """Use as a context manager; `kubeconfig` leads through it."""

    def __init__(self, plane: ControlPlane) -> None:
        self.rules: list[Rule] = []
        self.requests: list[tuple[str, str]] = []
        self.lock = threading.Lock()
        self.stopping = threading.Event()
        self.upstream = urlsplit(plane.server)
        name = uuid.uuid4().hex[:8]  # several proxies may be made at the same time
        pair = plane.authority.client(f"fault-proxy-{name}", "system:masters")
        self.to_server = ssl.create_default_context(cafile=str(plane.authority.pair.certificate))
        self.to_server.load_cert_chain(pair.certificate, pair.key)
        served = plane.authority.server(f"fault-proxy-server-{name}", ("127.0.0.1",))
        to_clients = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        to_clients.load_cert_chain(served.certificate, served.key)
        super().__init__(type("Bound", (_Handler,), {"proxy": self}))
        self._http.socket = to_clients.wrap_socket(self._http.socket, server_side=True, do_handshake_on_connect=False)
        url = f"https://{self.address}"
        self.kubeconfig: Path = pki.kubeconfig(plane.folder / f"kubeconfig-{name}", url, plane.authority, "unused")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stopping.set()
        super().__exit__(kind, error, trace)

    def add(self, rule: Rule) -> Rule:
        """A rule from now on; its `applied` tells how often it did."""
        with self.lock:
            self.rules.append(rule)
        return rule

    def clear(self) -> None:
        """All is well again."""
        with self.lock:
            self.rules.clear()

    @contextlib.contextmanager
    def faulty(self, *rules: Rule) -> Iterator[None]:
        """These rules while the context lasts."""
        for rule in rules:
            self.add(rule)
        try:
            yield
        finally:
            self.clear()

    def judge(self, method: str, path: str, *, watch: bool) -> Rule | None:
        """Note the request, and the rule it falls under."""
        with self.lock:
            self.requests.append((method, path))
            rule = next((one for one in self.rules if one.fits(method, path, watch=watch)), None)
            if rule is not None:
                rule.applied += 1
            return rule


class _Handler(BaseHTTPRequestHandler):
    proxy: FaultProxy
    protocol_version = "HTTP/1.1"

    def handle_one_request(self) -> None:
        with contextlib.suppress(OSError):  # either side may hang up at any moment
            super().handle_one_request()
            return
        self.close_connection = True

    def _pass(self) -> None:
        split = urlsplit(self.path)
        query = parse_qs(split.query)
        watch = query.get("watch", [""])[0] in ("1", "true", "True")
        method = f"DRY-{self.command}" if "dryRun" in query else self.command
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        rule = self.proxy.judge(method, split.path, watch=watch)
        if rule is not None and rule.hang_s is not None:
            self.proxy.stopping.wait(rule.hang_s)
            self.close_connection = True
            return
        if rule is not None and rule.status is not None and not rule.after:
            self._refuse(rule)
            return
        self._ask(body, rule)

    do_GET = do_POST = do_PUT = do_PATCH = do_DELETE = _pass  # noqa: N815 - the base class's names

    def _ask(self, body: bytes, rule: Rule | None) -> None:
        proxy = self.proxy
        headers = {name: value for name, value in self.headers.items() if name.lower() not in (*_HOP, "authorization")}
        upstream = http.client.HTTPSConnection(
            proxy.upstream.hostname or "", proxy.upstream.port, context=proxy.to_server, timeout=600
        )
        try:
            upstream.request(self.command, self.path, body, {**headers, "Host": self.headers["Host"]})
            answer = upstream.getresponse()
            if rule is not None and rule.status is not None:
                answer.read()
                self._refuse(rule)
                return
            cut_s = None if rule is None else rule.cut_after_s
            timer = None if cut_s is None else threading.Timer(cut_s, self._cut, (upstream,))
            if timer is not None:
                timer.start()
            self._relay(answer)
        except (http.client.HTTPException, ValueError):  # cut off in the middle of a chunk
            self.close_connection = True
        finally:
            upstream.close()

    def _cut(self, upstream: http.client.HTTPSConnection) -> None:
        for side in (self.connection, upstream.sock):
            with contextlib.suppress(OSError):
                if side is not None:
                    side.shutdown(socket.SHUT_RDWR)  # wakes up who waits for it; closing would not

    def _relay(self, answer: http.client.HTTPResponse) -> None:
        self.send_response(answer.status)
        for name, value in answer.getheaders():
            if name.lower() not in _HOP:
                self.send_header(name, value)
        self.send_header("Transfer-Encoding", "chunked")
        self.end_headers()
        while part := answer.read1(_CHUNK):
            self.wfile.write(b"%x\r\n%s\r\n" % (len(part), part))
            self.wfile.flush()
        self.wfile.write(b"0\r\n\r\n")

    def _refuse(self, rule: Rule) -> None:
        status = rule.status or 500
        body = json.dumps(
            {
                "kind": "Status",
                "apiVersion": "v1",
                "status": "Failure",
                "message": f"the fault proxy says {status}",
                "reason": _REASONS.get(status, "Unknown"),
                "code": status,
            }
        ).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if rule.retry_after_s is not None:
            self.send_header("Retry-After", str(rule.retry_after_s))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Silent."""
