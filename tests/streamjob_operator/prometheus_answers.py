"""Answers as a Prometheus gives them, by handlers that tests write."""

from __future__ import annotations

import contextlib
from http.server import BaseHTTPRequestHandler


def sent(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """The answer as a Prometheus gives it, whoever has gone meanwhile."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(body)
