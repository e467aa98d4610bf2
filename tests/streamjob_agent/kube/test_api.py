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
from streamjob_agent.kube.connection import LONGEST_S, Connection, Request


class Server(ThreadingHTTPServer):
    """Answers every request with `status`, `headers` and the `chunks`; remembers what was asked."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), Handler)
        self.status = 200
        self.headers: dict[str, str] = {}
        self.chunks: list[bytes] = [b"{}"]
        self.whole = True
        self.keeps = True
        self.connections = 0
        self.asked: list[tuple[str, str, dict[str, str], bytes]] = []

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"

    def process_request(self, request: Any, client_address: Any) -> None:
        """Each connection comes here once."""
        self.connections += 1
        super().process_request(request, client_address)


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
        self.close_connection = not (server.keeps and server.whole)  # without a word: the client learns it later

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
    access = Access(server=server.url, trust=lambda: None, authorization=lambda: "Bearer token-1")
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
    access = Access(server="http://127.0.0.1:1", trust=lambda: None, authorization=lambda: None)
    with pytest.raises(ApiFailure, match="no answer") as caught:
        HttpMapApi(lambda: access, "streams", "orders").read()
    assert caught.value.code is None


def test_the_way_to_the_server_is_looked_for_again_until_it_is_found(server: Server) -> None:
    answers: list[Exception | Access] = [
        OSError("not mounted yet"),
        Access(server=server.url, trust=lambda: None, authorization=lambda: None),
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
        in_cluster({"KUBERNETES_SERVICE_HOST": "10.0.0.1", "KUBERNETES_SERVICE_PORT": "443"}, tmp_path).trust()


def test_an_authority_that_was_replaced_is_trusted_from_the_next_connection_on(
    rotating: Any, tmp_path: pathlib.Path
) -> None:
    """The kubelet replaces the file in place, as it does the token's: no driver is to be started anew for it."""
    (tmp_path / "token").write_text("token-1")
    place = {"KUBERNETES_SERVICE_HOST": "127.0.0.1", "KUBERNETES_SERVICE_PORT": str(rotating.port)}
    api = HttpMapApi(lambda: in_cluster(place, tmp_path), "streams", "orders")
    assert api.read() == {}
    rotating.rotate("second")
    with pytest.raises(ApiFailure, match="certificate verify failed"):
        api.read()
    rotating.tell("second")
    assert api.read() == {}
    rotating.rotate("first")
    with pytest.raises(ApiFailure, match="certificate verify failed"):  # nobody trusts the old one any more
        api.read()


def test_requests_share_a_connection_and_watches_have_one_of_their_own(server: Server, api: HttpMapApi) -> None:
    for _ in range(3):
        api.read()
        api.write_status({"reason": "Ok"})
    assert server.connections == 1
    for _ in range(3):
        assert list(api.watch("1")) == [("None", {})]
    assert (len(server.asked), server.connections) == (9, 2)


def test_a_refusal_that_was_read_to_its_end_keeps_the_connection(server: Server, api: HttpMapApi) -> None:
    server.status = 404
    for _ in range(2):
        with pytest.raises(ApiFailure):
            api.read()
    server.status = 200
    assert api.read() == {}
    assert server.connections == 1


def test_a_connection_that_the_server_has_closed_meanwhile_is_made_anew(server: Server, api: HttpMapApi) -> None:
    server.keeps = False
    for _ in range(3):
        assert api.read() == {}
        api.write_status({"reason": "Ok"})
    assert (len(server.asked), server.connections) == (6, 6)


def test_an_answer_that_was_cut_is_a_failure_and_the_next_request_has_another_connection(
    server: Server, api: HttpMapApi
) -> None:
    server.whole = False
    with pytest.raises(ApiFailure, match="no answer"):
        api.read()
    server.whole = True
    assert api.read() == {}
    assert server.connections == 2


def test_a_watch_that_is_left_in_the_middle_holds_up_no_other(server: Server, api: HttpMapApi) -> None:
    server.chunks = [b'{"type": "ADDED", "object": {}}\n' * 2]
    left = api.watch("1")
    assert next(iter(left)) == ("ADDED", {})
    with pytest.raises(ApiFailure):  # the connection is in the middle of an answer
        list(api.watch("1"))
    assert len(list(api.watch("1"))) == 2


def test_a_connection_is_kept_for_minutes_and_no_longer(server: Server) -> None:
    now, connection = [100.0], Connection(5.0, lambda: now[0])

    def asked() -> int:
        with connection.ask(server.url, lambda: None, Request(method="GET", path="/", headers={})) as answer:
            assert answer.read() == b"{}"
        return server.connections

    assert (asked(), asked()) == (1, 1)
    now[0] += LONGEST_S - 1.0
    assert asked() == 1
    now[0] += 1.0
    assert (asked(), asked()) == (2, 2)


def test_the_server_s_own_path_comes_first(server: Server) -> None:
    access = Access(server=f"{server.url}/clusters/c1", trust=lambda: None, authorization=lambda: None)
    api = HttpMapApi(lambda: access, "streams", "orders")
    for _ in range(2):
        api.read()
    assert [one[1] for one in server.asked] == [f"/clusters/c1{PATH}/orders"] * 2
