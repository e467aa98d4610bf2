"""What holds for every test."""

from __future__ import annotations

import contextlib
import gc
import http.server
import shutil
import socket
import ssl
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

sys.path.append(str(Path(__file__).parent))  # helpers of all folders: importlib mode puts none on the path

# A busy machine is no failure: how long an example takes to make or to run says nothing about what is tested.
settings.register_profile("untimed", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("untimed")


def pytest_collection() -> None:
    """What is collected stays to the end: to look for garbage among it, again and again, took a quarter of the time."""
    gc.disable()


def pytest_collection_finish() -> None:
    """From now on garbage is what tests leave behind."""
    gc.freeze()
    gc.enable()


class RotatingServer(http.server.ThreadingHTTPServer):
    """An API server on loopback whose certificate, and the authority that pods are told to trust, are replaced."""

    daemon_threads = True

    def __init__(self, ca: Path) -> None:
        super().__init__(("127.0.0.1", 0), _Empty)
        self.ca = ca
        self._peers: list[ssl.SSLSocket] = []
        self.rotate("first")
        self.tell("first")

    @property
    def port(self) -> int:
        return int(self.server_address[1])

    def rotate(self, name: str) -> None:
        """It starts anew with that certificate: the connections that were kept are cut."""
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.load_cert_chain(_PEMS / f"{name}.pem")
        for peer in self._peers:
            with contextlib.suppress(OSError):  # it has gone by itself
                socket.socket.shutdown(peer, socket.SHUT_RDWR)
        self._peers.clear()

    def tell(self, name: str) -> None:
        """As the kubelet replaces the projected file."""
        shutil.copy(_PEMS / f"{name}.pem", self.ca)

    def get_request(self) -> tuple[ssl.SSLSocket, tuple[str, int]]:
        """A caller; the handshake is made at the first read, in a thread of its own."""
        peer, address = super().get_request()
        wrapped = self._context.wrap_socket(peer, server_side=True, do_handshake_on_connect=False)
        self._peers.append(wrapped)
        return wrapped, address

    def handle_error(self, request: object, client_address: object) -> None:
        """Who does not trust it hangs up."""


class _Empty(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, format: str, *args: object) -> None:
        pass


_PEMS = Path(__file__).parent / "data" / "tls"
"""Two certificates with their keys, each its own authority, for 127.0.0.1 and tests alone."""


@pytest.fixture
def rotating(tmp_path: Path) -> Iterator[RotatingServer]:
    """See RotatingServer; its `ca` is `ca.crt` in the test's own folder."""
    server = RotatingServer(tmp_path / "ca.crt")
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()
    yield server
    server.shutdown()
    server.server_close()
