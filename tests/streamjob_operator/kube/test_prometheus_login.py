"""What a log-in or a header of a Prometheus may hold, and where it does not go."""

from __future__ import annotations

import base64
import json
from http.server import BaseHTTPRequestHandler

import pytest
from prometheus_answers import sent
from scripted_server import Answer, Script, serving
from test_prometheus_whole import answering

from streamjob_operator.kube.metrics.http import Connection, Settings, settings_of
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.ports import Unavailable
from streamjob_operator.spec.job import Auth, SecretRef
from streamjob_operator.spec.job import Prometheus as Spec

NOTHING = {"status": "success", "data": {"resultType": "vector", "result": []}}


def coded(**data: str) -> dict[str, str]:
    return {key: base64.b64encode(value.encode()).decode() for key, value in data.items()}


def asked(settings: Settings) -> list[dict[str, object]]:
    connection = Connection(settings)
    try:
        return connection.query("vector(1)")
    finally:
        connection.close()


@pytest.mark.parametrize("token", ["first-half\nsecond-half", "second-half…", " \r\n", "two words-second-half"])
def test_a_token_that_no_header_can_hold_is_refused_and_not_repeated(token: str) -> None:
    """The sentence goes into a condition, which more people may read than the secret."""
    spec = Spec(url="http://127.0.0.1:1", auth=Auth(secret_ref=SecretRef(name="login")))
    with pytest.raises(Unavailable, match=r"Secret login: token .*is needed") as caught:
        asked(settings_of(spec, lambda _: coded(token=token)))
    assert caught.value.code == KubeReason.PROMETHEUS_DENIED
    assert "half" not in str(caught.value)


def test_a_token_may_end_with_a_line() -> None:
    spec = Spec(url="http://127.0.0.1:1", auth=Auth(secret_ref=SecretRef(name="login")))
    assert settings_of(spec, lambda _: coded(token="abc.def-_~+/=\n")).token == "abc.def-_~+/="


@pytest.mark.parametrize("what", ["auth", "tls"])
def test_what_else_a_secret_holds_is_nobodys_business(what: str) -> None:
    """cert-manager, asked for a keystore, puts one beside ca.crt and tls.crt."""
    data = coded(token="word", **{"ca.crt": "authority"}) | {"keystore.p12": base64.b64encode(b"\xff\xfe").decode()}
    ref = {"auth": {"secretRef": {"name": "s"}}, "tls": {"caSecretRef": {"name": "s"}}}
    found = settings_of(Spec.model_validate({"url": "https://p", what: ref[what]}), lambda _: data)
    assert (found.token, found.ca_pem) == (("word", None) if what == "auth" else (None, "authority"))
    with pytest.raises(Unavailable, match="Secret s holds something that is no text"):
        settings_of(
            Spec.model_validate({"url": "https://p", what: ref[what]}),
            lambda _: dict.fromkeys(data, data["keystore.p12"]),
        )


def test_a_password_is_sent_as_prometheus_reads_it() -> None:
    with serving(Script(Answer(body=NOTHING))) as script:
        assert asked(Settings(url=script.url, login=("zoë", "pässword €"))) == []
    assert [one.authorization for one in script.asked] == [
        "Basic " + base64.b64encode("zoë:pässword €".encode()).decode()
    ]


def test_a_header_that_cannot_be_sent_is_told_without_its_value() -> None:
    with pytest.raises(Unavailable, match="cannot be asked") as caught:
        asked(Settings(url="http://127.0.0.1:1", headers=(("X-Scope-OrgID", "zahlungen-€"),)))
    assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE
    assert "€" not in str(caught.value)


@pytest.mark.parametrize("url", ["http://a..b:9090", "http://" + "a" * 70 + ":9090", "http://[::1", "http://h:99999"])
def test_an_address_that_is_none_is_told(url: str) -> None:
    with pytest.raises(Unavailable, match="Prometheus at") as caught:
        asked(Settings(url=url))
    assert caught.value.code == KubeReason.PROMETHEUS_UNAVAILABLE


def test_an_authority_that_is_no_text_of_a_certificate() -> None:
    with pytest.raises(Unavailable, match=r"ca\.crt .* is no certificate") as caught:
        Connection(Settings(url="https://127.0.0.1:1", ca_pem="überall"))
    assert caught.value.code == KubeReason.PROMETHEUS_TLS


def test_answers_are_asked_for_as_they_are() -> None:
    """Packed they would cost a Prometheus more than what they say; a proxy may want it otherwise."""
    asked_with: list[str] = []

    def noted(handler: BaseHTTPRequestHandler) -> None:
        asked_with.append(handler.headers["Accept-Encoding"])
        sent(handler, json.dumps(NOTHING).encode())

    with answering(noted) as url:
        asked(Settings(url=url))
        asked(Settings(url=url, headers=(("Accept-Encoding", "gzip"),)))
    assert asked_with == ["identity", "gzip"]
