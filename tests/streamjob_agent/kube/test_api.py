"""Requests and answers on a real socket: what is asked, and what becomes of every kind of answer."""

from __future__ import annotations

import json
import pathlib
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from streamjob_agent.kube.access import Access, find_access, in_cluster
from streamjob_agent.kube.api import GONE, ApiFailure, HttpMapApi


class Server(ThreadingHTTPServer):
    """Answers every request with `status`, `headers` and the `chunks`; remembers what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        self.chunks: list[bytes] = [b"{}"]
        self.whole = True
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class Handler(BaseHTTPRequestHandler):
    server: Server
    protocol_version = "HTTP/1.1"

    def do_GET(self) -> None:
        self.answer()

    def do_PATCH(self) -> None:
        self.answer()

    def answer(self) -> None:
        server = self.server
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        server.asked.append((self.command, self.path, dict(self.headers.items()), body))
        self.send_response(server.status)
        for name, value in {"Transfer-Encoding": "chunked", **server.headers}.items():
            self.send_header(name, value)
        self.end_headers()
        for chunk in server.chunks:
            self.wfile.write(b"%x\r\n%s\r\n" % (len(chunk), chunk))
        if server.whole:
            self.wfile.write(b"0\r\n\r\n")
        self.close_connection = True

    def log_message(self, format: str, *args: Any) -> None:
        pass


@pytest.fixture
def server() -> Iterator[Server]:
    made = Server()
    thread = threading.Thread(target=made.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    yield made
    made.shutdown()
    made.server_close()


@pytest.fixture
def api(server: Server) -> HttpMapApi:
    access = Access(server=server.url, context=None, authorization=lambda: "Bearer token-1")
    return HttpMapApi(lambda: access, "streams", "orders")


PATH = "/apis/streamjob.dev/v1alpha1/namespaces/streams/partitionmaps"


def test_one_map_is_read_and_nothing_else(server: Server, api: HttpMapApi) -> None:
    server.chunks = [b'{"spec": {"generation": 1}}']
    assert api.read() == {"spec": {"generation": 1}}
    method, path, headers, body = server.asked[0]
    assert (method, path, body) == ("GET", f"{PATH}/orders", b"")
    assert headers["Authorization"] == "Bearer token-1"


def test_the_watch_is_of_one_map_so_that_one_name_in_a_role_is_enough(server: Server, api: HttpMapApi) -> None:
    lines = [{"type": "ADDED", "object": {"a": 1}}, {"type": "BOOKMARK", "object": {"b": 2}}]
    text = b"".join(json.dumps(line).encode() + b"\n" for line in lines)
    server.chunks = [text[:9], text[9:30], text[30:]]  # a line may come in pieces
    assert list(api.watch("17")) == [("ADDED", {"a": 1}), ("BOOKMARK", {"b": 2})]
    split = urlsplit(server.asked[0][1])
    assert split.path == PATH
    asked = {name: values[0] for name, values in parse_qs(split.query).items()}
    assert (asked["fieldSelector"], asked["resourceVersion"]) == ("metadata.name=orders", "17")
    assert asked["watch"] == asked["allowWatchBookmarks"] == "true"


def test_the_status_is_applied_under_the_agent_s_own_name(server: Server, api: HttpMapApi) -> None:
    api.write_status({"reason": "Ok"})
    method, path, headers, body = server.asked[0]
    assert (method, path) == ("PATCH", f"{PATH}/orders/status?fieldManager=streamjob-agent&force=true")
    assert headers["Content-Type"] == "application/apply-patch+yaml"
    assert json.loads(body) == {
        "apiVersion": "streamjob.dev/v1alpha1",
        "kind": "PartitionMap",
        "metadata": {"name": "orders", "namespace": "streams"},
        "status": {"reason": "Ok"},
    }


@pytest.mark.parametrize("code", [401, 403, 404, 409, 410, 429, 500, 503])
def test_a_refusal_is_a_failure_with_its_code_and_the_server_s_sentence(
    server: Server, api: HttpMapApi, code: int
) -> None:
    server.status, server.headers = code, {"Retry-After": "3"}
    server.chunks = [json.dumps({"kind": "Status", "message": "because of this"}).encode()]
    for call in (api.read, lambda: list(api.watch("1")), lambda: api.write_status({})):
        with pytest.raises(ApiFailure, match=f"{code}: because of this") as caught:
            call()
        assert (caught.value.code, caught.value.retry_after_s) == (code, 3.0)


ODD_ANSWERS = [(200, b"<html>", "not JSON"), (200, b"[]", "list, an object is needed"), (502, b"proxy", "502: proxy")]


@pytest.mark.parametrize(("status", "text", "sentence"), ODD_ANSWERS)
def test_an_answer_that_is_none_is_a_failure(
    server: Server, api: HttpMapApi, status: int, text: bytes, sentence: str
) -> None:
    server.status, server.chunks = status, [text]
    with pytest.raises(ApiFailure, match=sentence):
        api.read()


def test_a_version_too_old_for_a_watch_is_gone(server: Server, api: HttpMapApi) -> None:
    error = {"type": "ERROR", "object": {"kind": "Status", "code": 410, "message": "too old resource version"}}
    server.chunks = [json.dumps(error).encode() + b"\n"]
    with pytest.raises(ApiFailure, match="too old") as caught:
        list(api.watch("1"))
    assert caught.value.code == GONE


def test_a_watch_that_is_cut_is_a_failure(server: Server, api: HttpMapApi) -> None:
    server.chunks, server.whole = [b'{"type": "ADDED", "object": {}}\n{"type"'], False
    seen = []
    with pytest.raises(ApiFailure):
        seen.extend(api.watch("1"))


def test_no_server_at_all_is_a_failure_without_a_code() -> None:
    access = Access(server="http://127.0.0.1:1", context=None, authorization=lambda: None)
    with pytest.raises(ApiFailure, match="no answer") as caught:
        HttpMapApi(lambda: access, "streams", "orders").read()
    assert caught.value.code is None


def test_the_way_to_the_server_is_looked_for_again_until_it_is_found(server: Server) -> None:
    answers: list[Exception | Access] = [
        OSError("not mounted yet"),
        Access(server=server.url, context=None, authorization=lambda: None),
    ]

    def find() -> Access:
        answer = answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer

    api = HttpMapApi(find, "streams", "orders")
    with pytest.raises(OSError, match="not mounted yet"):
        api.read()
    assert api.read() == {}
    assert api.read() == {}


def test_outside_a_cluster_it_says_what_is_missing(tmp_path: pathlib.Path) -> None:
    with pytest.raises(OSError, match="neither KUBECONFIG nor KUBERNETES_SERVICE_HOST"):
        find_access({}, tmp_path)
    with pytest.raises(OSError):  # no certificate there
        in_cluster({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path)
