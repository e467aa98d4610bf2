"""What answers in place of a Prometheus holds nobody longer than one question may take."""

from __future__ import annotations

import contextlib
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import SimpleNamespace

import pytest
import urllib3.util.retry
from prometheus_answers import limited_while, sent

from streamjob_operator.kube.metrics.http import Connection, Settings
from streamjob_operator.kube.metrics.whole import MOST_PATIENCE_S
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.ports import Unavailable

NOTHING = b'{"status":"success","data":{"resultType":"vector","result":[]}}'
GIVEN_UP = 200  # drips, after which a server that drips gives its answer, and the test fails


@contextlib.contextmanager
def answering(answer: Callable[[BaseHTTPRequestHandler], None]) -> Iterator[str]:
    body = {"do_GET": answer, "log_message": lambda *_: None}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (BaseHTTPRequestHandler,), body))
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()


def asked(url: str, timeout_s: float = 1.0) -> list[dict[str, object]]:
    connection = Connection(Settings(url=url, timeout_s=timeout_s))
    try:
        return connection.query("vector(1)")
    finally:
        connection.close()


def drip(handler: BaseHTTPRequestHandler, drop: bytes) -> None:
    for _ in range(GIVEN_UP):
        handler.wfile.write(drop)
        time.sleep(0.05)


def head_that_drips(handler: BaseHTTPRequestHandler) -> None:
    with contextlib.suppress(OSError):
        handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n")
        handler.wfile.write(b"Content-Length: %d\r\nX-Slow: " % len(NOTHING))
        drip(handler, b"x")
        handler.wfile.write(b"\r\n\r\n" + NOTHING)


def body_that_drips(handler: BaseHTTPRequestHandler) -> None:
    with contextlib.suppress(OSError):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(NOTHING) + GIVEN_UP))
        handler.end_headers()
        drip(handler, b" ")
        handler.wfile.write(NOTHING)


def body_without_an_end(handler: BaseHTTPRequestHandler) -> None:
    """What was cut off looks like its end."""
    with contextlib.suppress(OSError):
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.end_headers()
        handler.wfile.write(NOTHING)
        drip(handler, b" ")


@pytest.mark.parametrize(
    ("answer", "sentence"),
    [
        (head_that_drips, "within 1 s"),
        (body_that_drips, "did not send its whole answer within 1 s"),
        (body_without_an_end, "did not send its whole answer within 1 s"),
    ],
)
def test_an_answer_that_drips_byte_by_byte_ends(
    answer: Callable[[BaseHTTPRequestHandler], None], sentence: str
) -> None:
    with answering(answer) as url, pytest.raises(Unavailable, match=sentence) as caught:
        asked(url)
    assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE


def test_a_flood_of_headers_is_not_read() -> None:
    def flood(handler: BaseHTTPRequestHandler) -> None:
        with contextlib.suppress(OSError):
            handler.send_response(200)
            for one in range(90):  # the library takes 100 of 64 KiB, in each of the threads that all jobs' cycles share
                handler.send_header(f"X{one}", "x" * 60_000)
            handler.send_header("Content-Length", str(len(NOTHING)))
            handler.end_headers()
            handler.wfile.write(NOTHING)

    with answering(flood) as url, pytest.raises(Unavailable, match="LineTooLong") as caught:
        asked(url, timeout_s=20.0)
    assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE


@pytest.mark.parametrize("patience", ["1000000", "Fri, 31 Dec 9999 23:59:59 GMT"])
def test_who_asks_for_patience_does_not_get_days(monkeypatch: pytest.MonkeyPatch, patience: str) -> None:
    slept: list[float] = []
    monkeypatch.setattr(urllib3.util.retry, "time", SimpleNamespace(sleep=slept.append, time=time.time))

    def later(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(503)
        handler.send_header("Retry-After", patience)
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with answering(later) as url, pytest.raises(Unavailable, match="answered 503"):
        asked(url, timeout_s=20.0)
    assert slept == [MOST_PATIENCE_S]


def test_what_is_no_time_in_that_header_is_not_repeated() -> None:
    def later(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(503)
        handler.send_header("Retry-After", "credentials-of-the-node")
        handler.send_header("Content-Length", "0")
        handler.end_headers()

    with answering(later) as url, pytest.raises(Unavailable, match="answered 503") as caught:
        asked(url, timeout_s=20.0)
    assert "credentials" not in str(caught.value)


def test_questions_after_one_that_took_too_long_are_answered(monkeypatch: pytest.MonkeyPatch) -> None:
    slow = [True]
    limited_while(monkeypatch, lambda: slow)

    def answer(handler: BaseHTTPRequestHandler) -> None:
        if slow.pop() if slow else False:
            body_that_drips(handler)
            return
        sent(handler, NOTHING)

    with answering(answer) as url:
        connection = Connection(Settings(url=url, timeout_s=1.0))
        with pytest.raises(Unavailable, match="whole answer"):
            connection.query("vector(1)")
        assert connection.query("vector(1)") == []
        connection.close()


@pytest.mark.parametrize(
    ("part", "times", "sentence"),
    [
        (b"[],", 1, "1048579 lists and objects; 1048576 can be read"),
        (b"{},", 1, "1048579 lists and objects; 1048576 can be read"),
        (b"10,", 4, "commas; 3355443 can be read"),
    ],
)
def test_an_answer_of_more_parts_than_any_has_is_not_taken_apart(
    monkeypatch: pytest.MonkeyPatch, part: bytes, times: int, sentence: str
) -> None:
    """Each empty list of three bytes would be a hundred in the memory of an operator that looks after others, too."""

    def take_apart(_: object) -> None:
        raise AssertionError("it was taken apart")

    monkeypatch.setattr("requests.Response.json", take_apart)
    body = (
        b'{"status":"success","data":{"resultType":"vector","result":['
        + part * times * ReadingLimits().most_parts
        + b"0]}}"
    )

    def answer(handler: BaseHTTPRequestHandler) -> None:
        sent(handler, body)

    with answering(answer) as url, pytest.raises(Unavailable, match=sentence):
        asked(url, timeout_s=60.0)


@pytest.mark.parametrize(("code", "sentence"), [(200, "cannot be read"), (500, "answered 500")])
def test_an_answer_that_is_nested_without_end_is_none(code: int, sentence: str) -> None:
    def answer(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(code)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", "100000")
        handler.end_headers()
        handler.wfile.write(b"[" * 100_000)

    with answering(answer) as url, pytest.raises(Unavailable, match=sentence):
        asked(url, timeout_s=60.0)


def test_its_error_is_one_line_that_steers_nothing() -> None:
    """Anybody may answer in the form of Prometheus, and `kubectl` and logs show what a condition holds as it is."""

    def answer(handler: BaseHTTPRequestHandler) -> None:
        error = "parse error:\\n\\u001b[2J all is well\\u009b31m"
        body = f'{{"status":"error","errorType":"bad_data","error":"{error}"}}'.encode()
        handler.send_response(400)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    with answering(answer) as url, pytest.raises(Unavailable) as caught:
        asked(url)
    assert str(caught.value) == f"Prometheus at {url} answered 400: parse error: \ufffd[2J all is well\ufffd31m."
