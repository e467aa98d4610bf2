"""Answers as a Prometheus gives them, by handlers that tests write."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler

import pytest

from streamjob_operator.deadlines import DEADLINES, Deadline


def sent(handler: BaseHTTPRequestHandler, body: bytes) -> None:
    """The answer as a Prometheus gives it, whoever has gone meanwhile."""
    handler.send_response(200)
    handler.send_header("Content-Type", "application/json")
    handler.send_header("Content-Length", str(len(body)))
    handler.end_headers()
    with contextlib.suppress(OSError):
        handler.wfile.write(body)


def limited_while(monkeypatch: pytest.MonkeyPatch, holds: Callable[[], object], seconds: float | None = None) -> None:
    """Questions have a limit only while it `holds`, of `seconds` where given: a busy machine takes long for others."""
    real = DEADLINES.after

    def after(stated_s: float, act: Callable[[], None]) -> Deadline:
        return real(stated_s if seconds is None else seconds, act) if holds() else Deadline(act)

    monkeypatch.setattr(DEADLINES, "after", after)
