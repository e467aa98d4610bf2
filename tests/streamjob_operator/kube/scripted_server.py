"""An API server of a few scripted answers, on loopback."""

from __future__ import annotations

import contextlib
import dataclasses
import http.server
import json
import threading
from collections.abc import Iterator
from typing import Any


@dataclasses.dataclass(kw_only=True)
class Answer:
    status: int = 200
    body: Any = dataclasses.field(default_factory=dict)
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    cut: bool = False  # promise more bytes than are sent


@dataclasses.dataclass(kw_only=True)
class Asked:
    method: str
    path: str
    content_type: str
    body: Any
    authorization: str | None = None
    accept: str | None = None


class Script:
    """Answers in order; the last one is repeated."""

    def __init__(self, *answers: Answer) -> None:
        self.answers = list(answers)
        self.asked: list[Asked] = []
        self.url = ""

    def next(self, asked: Asked) -> Answer:
        self.asked.append(asked)
        return self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]


@contextlib.contextmanager
def serving(script: Script) -> Iterator[Script]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def _answer(self) -> None:
            body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
            kind = self.headers.get("Content-Type", "")
            asked = Asked(
                method=self.command,
                path=self.path,
                content_type=kind,
                body=json.loads(body) if body else None,
                authorization=self.headers.get("Authorization"),
                accept=self.headers.get("Accept"),
            )
            answer = script.next(asked)
            text = (answer.body if isinstance(answer.body, str) else json.dumps(answer.body)).encode()
            self.send_response(answer.status)
            for name, value in {"Content-Type": "application/json", **answer.headers}.items():
                self.send_header(name, value)
            self.send_header("Content-Length", str(len(text) + 10 * answer.cut))
            self.end_headers()
            self.wfile.write(text)

        do_GET = do_POST = do_PATCH = do_DELETE = _answer  # noqa: N815

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True)
    thread.start()
    script.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
