"""The agent's HTTP side over a real socket on loopback."""

from __future__ import annotations

import contextlib
import errno
import http.client
import pathlib
import socket
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from fake_bridge import APPLICATION, QUERY, FakeBridge
from prometheus_client.parser import text_string_to_metric_families

from streamjob_agent import metric_names, tokens
from streamjob_agent import server as server_module
from streamjob_agent.attach import Host
from streamjob_agent.callers import Callers
from streamjob_agent.config import AgentConfig
from streamjob_agent.plan_form import plans_from_json
from streamjob_agent.server import MOST_BODY_BYTES, AgentServer
from streamjob_agent.wire import Assignment, assignment_to_json, status_from_json
from streamjob_operator.agent_http.client import AgentClient, fixed_address
from streamjob_operator.ports import Unavailable


class Context:
    """What the host asks of a SparkSession: the context it belongs to."""

    @property
    def sparkContext(self) -> Context:  # noqa: N802 - pyspark's name
        return self


def call(host: Host, method: str, path: str, body: bytes | None = None, **headers: str) -> tuple[int, str, str]:
    assert host.address is not None
    if method == "PUT" and "Authorization" not in headers:
        headers["Authorization"] = f"Bearer {tokens.find(f'http://{host.address}')}"
    request = urllib.request.Request(f"http://{host.address}{path}", data=body, method=method, headers=headers)
    try:
        with urllib.request.urlopen(request, timeout=10) as answer:
            return answer.status, answer.headers["Content-Type"], answer.read().decode()
    except urllib.error.HTTPError as error:
        with error:
            return error.code, error.headers["Content-Type"], error.read().decode()


def attached(bridge: FakeBridge, config: AgentConfig) -> Host:
    host = Host(config, connect=lambda session: bridge)
    host.session_appeared(Context())
    assert host._agent is not None
    for _ in range(200):
        if host.status().executors:
            return host
        bridge.run_batch()
        host._agent._stop.wait(0.05)
    raise AssertionError("the agent has not looked at its bridge")


@pytest.fixture
def bridge() -> FakeBridge:
    return FakeBridge()


@pytest.fixture
def host(bridge: FakeBridge, tmp_path: pathlib.Path) -> Iterator[Host]:
    host = attached(bridge, AgentConfig(poll_s=0.05, address_file=str(tmp_path / "deep" / "address")))
    yield host
    host.close()
    assert host._server is not None
    host._server.close()


def plan(generation: int = 1, **fields: object) -> bytes:
    assignment = Assignment(generation=generation, application_id=APPLICATION, query_id=QUERY, **fields)  # type: ignore[arg-type]
    return assignment_to_json(assignment).encode()


def test_health_status_and_address_file(host: Host, tmp_path: pathlib.Path) -> None:
    assert call(host, "GET", "/healthz")[0] == 200
    code, kind, body = call(host, "GET", "/v1/status")
    assert (code, kind) == (200, "application/json")
    assert status_from_json(body).application_id == APPLICATION
    assert (tmp_path / "deep" / "address").read_text() == f"http://{host.address}\n"


def test_assignment_is_taken_with_the_status(host: Host) -> None:
    code, _, body = call(host, "PUT", "/v1/assignment", plan())
    assert code == 202
    assert status_from_json(body).refused is None


def test_stale_assignment_is_refused_with_409_and_the_reason(host: Host) -> None:
    body = assignment_to_json(Assignment(generation=1, application_id="old", query_id=QUERY)).encode()
    code, _, sentence = call(host, "PUT", "/v1/assignment", body)
    assert code == 409
    assert sentence.startswith("StaleApplication: ")
    assert (status_from_json(call(host, "GET", "/v1/status")[2]).refused or "").startswith("StaleApplication: ")


def test_unreadable_assignment_gets_400_and_the_sentence(host: Host) -> None:
    code, _, sentence = call(host, "PUT", "/v1/assignment", b'{"version": 7}')
    assert (code, sentence) == (400, "version: 7 given, this side speaks 1\n")


def test_bodies_are_bounded(host: Host) -> None:
    assert host.address is not None
    connection = http.client.HTTPConnection(host.address, timeout=10)
    connection.putrequest("PUT", "/v1/assignment")
    connection.putheader("Authorization", f"Bearer {tokens.find(f'http://{host.address}')}")
    connection.putheader("Content-Length", str(MOST_BODY_BYTES + 1))
    connection.endheaders()
    assert connection.getresponse().status == 413
    connection.close()


@pytest.mark.parametrize("length", [None, "-1", "many", "9" * 5000])
def test_length_is_needed(host: Host, length: str | None) -> None:
    assert host.address is not None
    connection = http.client.HTTPConnection(host.address, timeout=10)
    connection.putrequest("PUT", "/v1/assignment")
    connection.putheader("Authorization", f"Bearer {tokens.find(f'http://{host.address}')}")
    if length is not None:
        connection.putheader("Content-Length", length)
    connection.endheaders()
    assert connection.getresponse().status == 411
    connection.close()


@pytest.mark.parametrize(("method", "path"), [("GET", "/"), ("GET", "/v1/assignment"), ("PUT", "/v1/status")])
def test_other_paths_are_not_found(host: Host, method: str, path: str) -> None:
    assert call(host, method, path, b"" if method == "PUT" else None)[0] == 404


def test_token_guards_assignments_only(bridge: FakeBridge) -> None:
    host = attached(bridge, AgentConfig(poll_s=0.05, token="s3cret"))
    assert host._server is not None
    assert call(host, "PUT", "/v1/assignment", plan())[0] == 401  # the file is for tokens that nobody has chosen
    assert call(host, "PUT", "/v1/assignment", plan(), Authorization="Bearer wrong")[0] == 401
    assert call(host, "PUT", "/v1/assignment", plan(), Authorization="Bearer s3cret")[0] == 202
    assert call(host, "GET", "/metrics")[0] == 200
    host.close()
    host._server.close()


@pytest.mark.parametrize("given", [None, "", "Bearer ", "Bearer None", "Basic eDp5"])
def test_without_its_token_nobody_steers(host: Host, given: str | None) -> None:
    assert host.address is not None
    connection = http.client.HTTPConnection(host.address, timeout=10)
    connection.request("PUT", "/v1/assignment", plan(), {} if given is None else {"Authorization": given})
    assert connection.getresponse().status == 401
    connection.close()


def test_the_controller_of_the_same_user_finds_the_token_by_itself(host: Host) -> None:
    client = AgentClient(fixed_address(f"http://{host.address}"))
    client.assign(Assignment(generation=1, application_id=APPLICATION, query_id=QUERY))
    with pytest.raises(Unavailable, match="wants its token: set STREAMJOB_AGENT_TOKEN"):
        AgentClient(fixed_address(f"http://{host.address}"), token="old").assign(
            Assignment(generation=2, application_id=APPLICATION, query_id=QUERY)
        )


def test_where_no_token_can_be_kept_nobody_steers(bridge: FakeBridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokens, "folders", lambda: (pathlib.Path("/proc/streamjob"),))
    host = attached(bridge, AgentConfig(poll_s=0.05))
    assert call(host, "PUT", "/v1/assignment", plan())[0] == 401
    assert host.guard.errors()["token"] == 1
    host.close()
    assert host._server is not None
    host._server.close()


def test_metrics_have_every_documented_name(host: Host, bridge: FakeBridge) -> None:
    for _ in range(3):
        bridge.run_batch()
        assert host._agent is not None
        host._agent.round()
    page = call(host, "GET", "/metrics")[2]
    shown = {family.name for family in text_string_to_metric_families(page)}
    documented = {
        value.removesuffix("_total")
        for name, value in vars(metric_names).items()
        if name.isupper() and not name.startswith("_") and isinstance(value, str)
    }
    assert shown == documented
    samples = [sample for family in text_string_to_metric_families(page) for sample in family.samples]
    busy = [sample for sample in samples if sample.name == metric_names.GROUP_BUSY_SECONDS]
    assert {(sample.labels["operator"], sample.labels["partition"]) for sample in busy} == {
        (str(operator), str(partition)) for operator in (0, 1) for partition in range(6)
    }


def test_an_error_in_an_answer_is_counted_not_printed(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    host._exporter = None  # type: ignore[assignment]
    before = host.guard.errors().get("request", 0)
    assert call(host, "GET", "/metrics")[0] == 500
    assert host.guard.errors()["request"] == before + 1
    assert "Traceback" not in capfd.readouterr().err


def test_a_caller_that_hangs_up_prints_nothing(host: Host, capfd: pytest.CaptureFixture[str]) -> None:
    assert host.address is not None
    name, port = host.address.split(":")
    for text in (b"GET", b"\x16\x03\x01\x00\xff", b"PUT /v1/assignment HTTP/1.1\r\nContent-Length: 9\r\n\r\n"):
        with socket.create_connection((name, int(port)), timeout=10) as connection:
            connection.sendall(text)
    assert call(host, "GET", "/healthz")[0] == 200
    assert capfd.readouterr().err == ""


def test_a_port_in_use_costs_only_the_http_side(bridge: FakeBridge) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        host = Host(AgentConfig(poll_s=0.05, port=taken.getsockname()[1]), connect=lambda session: bridge)
        host.session_appeared(Context())
    assert host.address is None
    assert host.guard.errors()["listen"] == 1
    assert host._agent is not None
    host.close()


def test_without_a_session_the_status_says_so() -> None:
    host = Host(AgentConfig())
    server = AgentServer(host, "127.0.0.1", 0, host._token)
    host._server = server
    status = status_from_json(call(host, "GET", "/v1/status")[2])
    assert (status.actuation, status.reason) == ("off", "NotAttached")
    assert call(host, "PUT", "/v1/assignment", plan())[0] == 409
    assert call(host, "GET", "/metrics")[0] == 200
    server.close()


def test_a_spark_that_cannot_be_watched_is_told() -> None:
    def refuse(session: object) -> FakeBridge:
        raise RuntimeError("no such class: StateStoreCoordinatorRef")

    host = Host(AgentConfig(), connect=refuse)
    host.session_appeared(Context())
    status = host.status()
    assert (status.actuation, status.reason) == ("off", "AttachFailed")
    assert "StateStoreCoordinatorRef" in status.message
    assert status.errors_total == 1


def test_a_new_session_after_a_stop_gets_a_new_agent(bridge: FakeBridge) -> None:
    host = attached(bridge, AgentConfig(poll_s=0.05))
    first, context = host._agent, host._context
    host.session_appeared(context)
    assert host._agent is first
    host.session_leaves(context)
    assert host.status().reason == "NotAttached"
    assert "close" in [name for name, _ in bridge.calls]
    host.session_appeared(Context())
    assert host._agent is not None
    assert host._agent is not first
    host.close()
    assert host._server is not None
    host._server.close()


def test_plans_of_the_queries_that_run_are_told(host: Host, bridge: FakeBridge) -> None:
    code, kind, body = call(host, "GET", "/v1/plans")
    assert (code, kind) == (200, "application/json")
    (plan,) = plans_from_json(body)
    assert (plan.query_id, plan.name) == (QUERY, "demo")
    assert [(one.operator, one.partitions) for one in plan.operators] == [(0, 6), (1, 6)]


def test_a_plan_that_cannot_be_read_is_left_out_and_counted(host: Host, bridge: FakeBridge) -> None:
    def fault() -> None:
        raise ValueError("made to fail")

    bridge.faults["plan"] = fault
    assert plans_from_json(call(host, "GET", "/v1/plans")[2]) == ()
    assert host._agent is not None
    assert host._agent.guard.errors()["plan"] == 1


def test_a_caller_for_whom_no_thread_could_be_started_takes_nobodys_place(
    host: Host, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object) -> None:
        raise RuntimeError("can't start new thread")

    with monkeypatch.context() as patch:
        patch.setattr(ThreadingHTTPServer, "process_request", refuse)
        for _ in range(20):
            with contextlib.suppress(OSError, http.client.HTTPException):
                call(host, "GET", "/healthz")
    assert call(host, "GET", "/healthz")[0] == 200


def test_a_driver_without_files_has_no_server_that_spins(monkeypatch: pytest.MonkeyPatch) -> None:
    paused: list[float] = []

    class Knocking:
        def accept(self) -> None:
            raise OSError(errno.EMFILE, "too many open files")

    server = server_module._QuietServer(("127.0.0.1", 0), BaseHTTPRequestHandler, Callers(1, {}))
    server.server_close()
    server.socket = Knocking()  # type: ignore[assignment]
    monkeypatch.setattr(server_module.time, "sleep", paused.append)
    with pytest.raises(OSError, match="too many open files"):
        server.get_request()
    assert paused == [0.5]


def test_however_many_ask_one_page_is_made_at_a_time(host: Host, monkeypatch: pytest.MonkeyPatch) -> None:
    """Pages of many key groups are a second's work each, and the job's own Python shares the interpreter."""
    under_way, most = [0], [0]

    def page() -> bytes:
        under_way[0] += 1
        most[0] = max(most[0], under_way[0])
        time.sleep(0.05)
        under_way[0] -= 1
        return b""

    monkeypatch.setattr(host, "page", page)
    callers = [threading.Thread(target=call, args=(host, "GET", "/metrics")) for _ in range(8)]
    for caller in callers:
        caller.start()
    for caller in callers:
        caller.join(30)
    assert most == [1]


def test_a_name_service_that_does_not_answer_holds_no_job_up(
    bridge: FakeBridge, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []
    monkeypatch.setattr(socket, "getfqdn", lambda name="": asked.append(name) or name)
    monkeypatch.setattr(socket, "gethostbyaddr", lambda name: asked.append(name) or (name, [], []))
    host = attached(bridge, AgentConfig(host="0.0.0.0"))
    try:
        assert host.address is not None
        assert call(host, "GET", "/healthz")[0] == 200
        assert asked == []
    finally:
        host.close()


def test_what_a_full_disk_leaves_of_an_address_is_taken_away(
    host: Host, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(path: pathlib.Path, target: object) -> pathlib.Path:
        raise OSError(errno.ENOSPC, "No space left on device")

    assert host._server is not None
    monkeypatch.setattr(pathlib.Path, "replace", full)
    with pytest.raises(OSError, match="No space left"):
        host._server.write_address(str(tmp_path / "folder/address"), "127.0.0.1")
    assert list((tmp_path / "folder").iterdir()) == []


def test_who_waits_for_callers_for_ever_is_woken_up_to_end(bridge: FakeBridge, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(server_module, "_IDLE_S", 1e6)
    host = attached(bridge, AgentConfig())
    assert host._server is not None
    waiting = host._server._thread
    host.close()
    host._server.close()
    waiting.join(60.0)
    assert not waiting.is_alive()
