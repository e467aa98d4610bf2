"""Log-in, trust, and everything that answers in place of Prometheus: each has a code and a sentence."""

from __future__ import annotations

import base64
import contextlib
import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
import requests
from e2e.cluster.pki import Authority
from e2e.cluster.prometheus import Prometheus
from e2e.simulated.scripted_agent import ScriptedAgent

from streamjob_operator.kube.metrics.http import Connection, Settings, settings_of
from streamjob_operator.kube.metrics.prometheus import PrometheusMetrics
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.ports import Unavailable
from streamjob_operator.spec.job import Auth, SecretRef, Tls
from streamjob_operator.spec.job import Prometheus as Spec

PASSWORD = "open sesame"
BCRYPT = "$2b$04$xxylshLKSOwsMXpOdGmB.eByYRqW6t2eOEjBWU2Ycsy0vfn/2DpMW"  # of PASSWORD, the cheapest kind


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Authority:
    return Authority.make(tmp_path_factory.mktemp("pki"))


@pytest.fixture(scope="module")
def locked(
    prometheus_program: Path, authority: Authority, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Prometheus]:
    """TLS and basic auth by Prometheus itself."""
    pair = authority.server("prometheus", ("127.0.0.1",))
    web = {
        "tls_server_config": {"cert_file": str(pair.certificate), "key_file": str(pair.key)},
        "basic_auth_users": {"ali": BCRYPT},
    }
    login = "Basic " + base64.b64encode(f"ali:{PASSWORD}".encode()).decode()
    folder = tmp_path_factory.mktemp("locked")
    with Prometheus(folder, prometheus_program, web_config=web, authorization=login) as server:
        yield server


def trusted(server: Prometheus, authority: Authority, password: str = PASSWORD) -> Settings:
    return Settings(url=server.url, login=("ali", password), ca_pem=authority.pair.certificate.read_text())


def ask(settings: Settings, limits: ReadingLimits | None = None) -> list[dict[str, object]]:
    connection = Connection(settings, limits=limits)
    try:
        return connection.query("vector(1)")
    finally:
        connection.close()


def code_of(settings: Settings, sentence: str, limits: ReadingLimits | None = None) -> str | None:
    with pytest.raises(Unavailable, match=sentence) as caught:
        ask(settings, limits)
    return caught.value.code


def test_basic_auth_and_our_own_authority(locked: Prometheus, authority: Authority) -> None:
    assert len(ask(trusted(locked, authority))) == 1


def test_a_connection_is_made_anew_once_it_was_let_go(locked: Prometheus, authority: Authority) -> None:
    connection = Connection(trusted(locked, authority))
    for _ in range(2):
        assert len(connection.query("vector(1)")) == 1
        connection.close()


def test_a_wrong_password_is_denied(locked: Prometheus, authority: Authority) -> None:
    settings = trusted(locked, authority, password="guess")
    assert code_of(settings, r"refuses the log-in \(401\)") == KubeReason.PROMETHEUS_DENIED
    assert "guess" not in repr(settings)


def test_no_log_in_is_denied(locked: Prometheus, authority: Authority) -> None:
    settings = Settings(url=locked.url, ca_pem=authority.pair.certificate.read_text())
    assert code_of(settings, "refuses the log-in") == KubeReason.PROMETHEUS_DENIED


def test_many_jobs_leave_prometheus_its_connections(prometheus_program: Path, tmp_path: Path) -> None:
    """It takes 512 at a time by default, from everybody: one more waits until somebody hangs up."""
    jobs, most = 12, 6
    with Prometheus(tmp_path, prometheus_program, flags=(f"--web.max-connections={most}",)) as server:
        agents = [ScriptedAgent(f"app-{at}") for at in range(jobs)]
        held = [PrometheusMetrics(lambda: Settings(url=server.url), one.status, "test") for one in agents]
        for metrics in held:
            with pytest.raises(Unavailable) as caught:
                metrics.observe(0.0, 1.0)
            assert caught.value.code == KubeReason.TARGET_MISSING, "it was asked, and has answered"


def test_an_unknown_authority_is_not_trusted(locked: Prometheus, authority: Authority, tmp_path: Path) -> None:
    other = Authority.make(tmp_path / "other").pair.certificate.read_text()
    for ca in (None, other):
        settings = Settings(url=locked.url, login=("ali", PASSWORD), ca_pem=ca)
        assert code_of(settings, "cannot be trusted: .*certificate verify failed") == KubeReason.PROMETHEUS_TLS


def test_a_certificate_for_another_name_is_not_trusted(
    prometheus_program: Path, authority: Authority, tmp_path: Path
) -> None:
    pair = authority.server("elsewhere", ("192.0.2.1",))
    web = {"tls_server_config": {"cert_file": str(pair.certificate), "key_file": str(pair.key)}}
    with Prometheus(tmp_path / "elsewhere", prometheus_program, web_config=web) as server:
        settings = Settings(url=server.url, ca_pem=authority.pair.certificate.read_text())
        assert code_of(settings, "cannot be trusted: .*mismatch") == KubeReason.PROMETHEUS_TLS


@pytest.mark.filterwarnings("ignore:Unverified HTTPS request")
def test_any_certificate_when_told_so(locked: Prometheus) -> None:
    assert len(ask(Settings(url=locked.url, login=("ali", PASSWORD), verify=False))) == 1


@contextlib.contextmanager
def wanting_certificates(authority: Authority) -> Iterator[str]:
    """What a proxy in front of a Prometheus does: whoever shows no certificate of the authority's is not heard."""
    pair = authority.server("mutual", ("127.0.0.1",))
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(pair.certificate, pair.key)
    context.load_verify_locations(authority.pair.certificate)
    context.verify_mode = ssl.CERT_REQUIRED
    one = b'{"status":"success","data":{"resultType":"vector","result":[{"metric":{},"value":[1,"1"]}]}}'
    body = {"do_GET": lambda handler: send(handler, 200, "application/json", one), "log_message": lambda *_: None}
    server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (BaseHTTPRequestHandler,), body))
    server.handle_error = lambda *_: None  # type: ignore[method-assign]
    server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    yield f"https://127.0.0.1:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


def test_a_certificate_is_shown_where_one_is_wanted(authority: Authority) -> None:
    client, ca = authority.client("streamjob"), authority.pair.certificate.read_text()
    shown = (client.certificate.read_text(), client.key.read_text())
    with wanting_certificates(authority) as url:
        assert len(ask(Settings(url=url, ca_pem=ca, client_pem=shown))) == 1
        assert code_of(Settings(url=url, ca_pem=ca), "Prometheus at") is not None
    data = {
        f"tls.{part}": base64.b64encode(text.encode()).decode()
        for part, text in zip(("crt", "key"), shown, strict=True)
    }
    spec = Spec(url="https://prometheus:9090", tls=Tls(client_secret_ref=SecretRef(name="pair")))
    assert settings_of(spec, {"pair": data}.get).client_pem == shown
    assert shown[1] not in repr(settings_of(spec, {"pair": data}.get))


def test_a_certificate_without_its_key() -> None:
    with pytest.raises(Unavailable, match="no certificate and its key") as caught:
        Connection(Settings(url="https://127.0.0.1:1", client_pem=("x", "y")))
    assert caught.value.code == KubeReason.PROMETHEUS_TLS
    spec = Spec(url="https://prometheus:9090", tls=Tls(client_secret_ref=SecretRef(name="pair")))
    with pytest.raises(Unavailable, match=r"no key tls\.crt and no key tls\.key"):
        settings_of(spec, lambda _: {"ca.crt": ""})


def test_headers_name_the_tenant_and_never_the_login(prometheus: Prometheus, front: Callable[[Answer], str]) -> None:
    seen: list[str | None] = []

    def tenants(handler: BaseHTTPRequestHandler) -> None:
        seen.append(handler.headers.get("X-Scope-OrgID"))
        answer = requests.get(prometheus.url + handler.path, timeout=5)
        send(handler, answer.status_code, answer.headers["Content-Type"], answer.content)

    spec = Spec(url=front(tenants), headers={"X-Scope-OrgID": "payments"})
    assert len(ask(settings_of(spec, lambda _: None))) == 1
    assert seen == ["payments"]
    for name, value in (("authorization", "Bearer x"), ("a b", "x"), ("X", "a\nb")):
        with pytest.raises(ValueError, match="names of letters"):
            Spec(url="http://p:9090", headers={name: value})


def test_a_query_may_take_as_long_as_the_spec_says() -> None:
    spec = Spec.model_validate_json('{"url": "http://p:9090", "timeout": "90s"}')
    assert settings_of(spec, lambda _: None).timeout_s == 90
    assert settings_of(Spec(url="http://p:9090"), lambda _: None).timeout_s == 20


def test_an_authority_that_is_none() -> None:
    for text in ("", "-----BEGIN CERTIFICATE-----\nnonsense\n-----END CERTIFICATE-----\n"):
        with pytest.raises(Unavailable, match=r"ca\.crt .* is no certificate") as caught:
            Connection(Settings(url="https://127.0.0.1:1", ca_pem=text))
        assert caught.value.code == KubeReason.PROMETHEUS_TLS


Answer = Callable[[BaseHTTPRequestHandler], None]


@pytest.fixture
def front() -> Iterator[Callable[[Answer], str]]:
    """Starts a server that answers as told; gives its address."""
    servers: list[ThreadingHTTPServer] = []

    def start(answer: Answer) -> str:
        body = {"do_GET": answer, "do_POST": answer, "log_message": lambda *_: None}
        server = ThreadingHTTPServer(("127.0.0.1", 0), type("Handler", (BaseHTTPRequestHandler,), body))
        server.daemon_threads = True
        threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
        servers.append(server)
        return f"http://127.0.0.1:{server.server_address[1]}"

    yield start
    for server in servers:
        server.shutdown()
        server.server_close()


def send(handler: BaseHTTPRequestHandler, code: int, kind: str, body: bytes, **headers: str) -> None:
    handler.send_response(code)
    for name, value in {"Content-Type": kind, "Content-Length": str(len(body)), **headers}.items():
        handler.send_header(name, value)
    handler.end_headers()
    handler.wfile.write(body)


def test_a_bearer_token_in_front_of_the_real_one(prometheus: Prometheus, front: Callable[[Answer], str]) -> None:
    def guard(handler: BaseHTTPRequestHandler) -> None:
        if handler.headers.get("Authorization") != "Bearer secret-token":
            send(handler, 403, "text/plain", b"no")
            return
        answer = requests.get(prometheus.url + handler.path, timeout=5)
        send(handler, answer.status_code, answer.headers["Content-Type"], answer.content)

    url = front(guard)
    assert len(ask(Settings(url=url, token="secret-token"))) == 1
    assert code_of(Settings(url=url, token="other"), r"refuses the log-in \(403\)") == KubeReason.PROMETHEUS_DENIED
    assert "secret-token" not in repr(Settings(url=url, token="secret-token"))


def test_another_service_is_not_taken_for_prometheus(front: Callable[[Answer], str]) -> None:
    url = front(lambda handler: send(handler, 200, "text/html; charset=utf-8", b"<html>Welcome</html>"))
    assert code_of(Settings(url=url), "answered 200 with text/html .*path included") == (
        KubeReason.PROMETHEUS_UNAVAILABLE
    )
    url = front(lambda handler: send(handler, 200, "application/json", b'{"hello": 1}'))
    assert code_of(Settings(url=url), "cannot be read") == KubeReason.PROMETHEUS_UNAVAILABLE
    url = front(lambda handler: send(handler, 200, "application/json", b'{"data": {"resu'))
    assert code_of(Settings(url=url), "cannot be read") == KubeReason.PROMETHEUS_UNAVAILABLE


def test_a_wrong_path_of_the_real_one(prometheus: Prometheus) -> None:
    code = code_of(Settings(url=f"{prometheus.url}/prom"), r"answered 404 with text/plain .*path included")
    assert code == KubeReason.PROMETHEUS_UNAVAILABLE


def test_an_error_is_passed_on_in_prometheus_own_words(prometheus: Prometheus) -> None:
    connection = Connection(Settings(url=prometheus.url))
    with pytest.raises(Unavailable, match=r"answered 400: .*parse error"):
        connection.query("sum(")
    connection.close()


def test_a_server_error_is_passed_on(front: Callable[[Answer], str]) -> None:
    error = b'{"status":"error","errorType":"internal","error":"disk is full"}'
    url = front(lambda handler: send(handler, 500, "application/json", error))
    assert code_of(Settings(url=url), "answered 500: disk is full") == KubeReason.PROMETHEUS_UNAVAILABLE


SECRET = b"cloud-credentials-of-the-node"


@pytest.mark.parametrize("body", [SECRET, b'{"error": "%s"}' % SECRET, b'{"message": "%s"}' % SECRET])
@pytest.mark.parametrize("code", [400, 404, 500])
def test_what_anything_else_says_is_not_repeated(front: Callable[[Answer], str], code: int, body: bytes) -> None:
    """Or whoever may name an address could read there with the operator's eyes."""
    url = front(lambda handler: send(handler, code, "application/json", body))
    with pytest.raises(Unavailable) as caught:
        ask(Settings(url=url))
    assert SECRET.decode() not in str(caught.value)
    assert f"answered {code}: with an error that is not in the form of Prometheus's" in str(caught.value)


def test_what_does_not_speak_http_is_not_repeated() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def greet() -> None:
            for _ in range(2):
                with server.accept()[0] as peer:
                    peer.sendall(SECRET + b"\r\n")

        thread = threading.Thread(target=greet, daemon=True)
        thread.start()
        with pytest.raises(Unavailable, match="does not answer") as caught:
            ask(Settings(url=f"http://127.0.0.1:{server.getsockname()[1]}"))
    assert SECRET.decode() not in str(caught.value)


def test_a_redirect_is_not_followed(prometheus: Prometheus, front: Callable[[Answer], str]) -> None:
    url = front(lambda handler: send(handler, 302, "text/plain", b"", Location=prometheus.url + handler.path))
    assert code_of(Settings(url=url), "redirects") == KubeReason.PROMETHEUS_UNAVAILABLE


def test_a_short_overload_is_waited_out(front: Callable[[Answer], str]) -> None:
    asked: list[str] = []

    def busy_once(handler: BaseHTTPRequestHandler) -> None:
        asked.append(handler.path)
        if len(asked) == 1:
            send(handler, 503, "text/plain", b"Service Unavailable", **{"Retry-After": "0"})
            return
        send(handler, 200, "application/json", b'{"status":"success","data":{"resultType":"vector","result":[]}}')

    assert ask(Settings(url=front(busy_once))) == []
    assert len(asked) == 2


def test_a_slow_answer_ends(front: Callable[[Answer], str]) -> None:
    done = threading.Event()
    url = front(lambda handler: (done.wait(10.0), None)[1])
    assert code_of(Settings(url=url, timeout_s=0.3), "did not answer within 0.3 s") == KubeReason.PROMETHEUS_UNAVAILABLE
    done.set()


def test_an_answer_that_drips_ends(front: Callable[[Answer], str]) -> None:
    def drip(handler: BaseHTTPRequestHandler) -> None:
        handler.send_response(200)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(2**24))
        handler.end_headers()
        for _ in range(100):
            try:
                handler.wfile.write(b" " * 2**17)
            except OSError:
                return
            time.sleep(0.05)

    assert code_of(Settings(url=front(drip), timeout_s=0.4), "whole answer within") == (
        KubeReason.PROMETHEUS_UNAVAILABLE
    )


def test_an_answer_that_is_too_long_ends(front: Callable[[Answer], str]) -> None:
    url = front(lambda handler: send(handler, 200, "application/json", b" " * 3 * 2**20))
    assert code_of(Settings(url=url), "sent more than 2000000 bytes", ReadingLimits(answer_bytes=2_000_000)) == (
        KubeReason.PROMETHEUS_UNAVAILABLE
    )


def test_nobody_there() -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{held.getsockname()[1]}"
    assert code_of(Settings(url=url), "does not answer: .*refused") == KubeReason.PROMETHEUS_UNAVAILABLE
    assert code_of(Settings(url="http://no-such-host.invalid:9090"), "does not answer") == (
        KubeReason.PROMETHEUS_UNAVAILABLE
    )


def coded(**data: str) -> dict[str, str]:
    return {key.replace("_", "."): base64.b64encode(value.encode()).decode() for key, value in data.items()}


def test_settings_from_secrets(locked: Prometheus, authority: Authority) -> None:
    secrets = {
        "login": coded(username="ali", password=PASSWORD),
        "ca": coded(ca_crt=authority.pair.certificate.read_text()),
    }
    spec = Spec(
        url=locked.url + "/",
        auth=Auth(secret_ref=SecretRef(name="login")),
        tls=Tls(ca_secret_ref=SecretRef(name="ca")),
    )
    assert len(ask(settings_of(spec, secrets.get))) == 1


@pytest.mark.parametrize(
    ("data", "sentence"),
    [
        (None, "is not there"),
        ({}, r"keys \(none\)"),
        ({"username": "YQ=="}, "keys username"),
        ({"token": "***"}, "no text"),
    ],
)
def test_secrets_that_do_not_help(data: dict[str, str] | None, sentence: str) -> None:
    spec = Spec(url="http://prometheus:9090", auth=Auth(secret_ref=SecretRef(name="login")))
    with pytest.raises(Unavailable, match=sentence) as caught:
        settings_of(spec, lambda _: data)
    assert caught.value.code == KubeReason.PROMETHEUS_DENIED


def test_an_authority_secret_without_its_key() -> None:
    spec = Spec(url="https://prometheus:9090", tls=Tls(ca_secret_ref=SecretRef(name="ca")))
    with pytest.raises(Unavailable, match=r"no key ca\.crt") as caught:
        settings_of(spec, lambda _: coded(token="x"))
    assert caught.value.code == KubeReason.PROMETHEUS_TLS
