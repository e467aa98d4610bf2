"""Asking a Prometheus: log-in, trust, limits, and a sentence with a reason code for everything that may go wrong."""

from __future__ import annotations

import base64
import binascii
import contextlib
import dataclasses
import datetime
import json
import re
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, ExitStack, nullcontext
from http.client import HTTPException
from typing import Any

import requests
from prometheus_api_client import PrometheusConnect
from prometheus_api_client.exceptions import PrometheusApiClientException
from urllib3.exceptions import LocationValueError, ReadTimeoutError

from streamjob_operator.agent_http.turns import LONGEST_TURN_S
from streamjob_operator.kube.metrics.answer import Answer
from streamjob_operator.kube.metrics.answered import Samples, are_series
from streamjob_operator.kube.metrics.tls import TlsAdapter, tls_context
from streamjob_operator.kube.metrics.whole import Patience, Whole, WholeAdapter
from streamjob_operator.kube.names import KubeReason
from streamjob_operator.measure.limits import ReadingLimits
from streamjob_operator.ports import Unavailable
from streamjob_operator.spec.job import Auth, Prometheus
from streamjob_operator.unsteered import one_line

_ERROR_TYPES = frozenset(
    ("timeout", "canceled", "execution", "bad_data", "internal", "unavailable", "not_found", "not_acceptable")
) | {"too_many_requests", "too_large_entry"}
"""Of Prometheus, Thanos and Mimir."""
PLAIN = "identity"
"""Packing an answer costs a Prometheus a third of answering, and unpacking costs us; between the two of them is one
cluster's network."""
_CONNECTION = re.compile(r"^\w+\(host=[^)]*\): ")
"""What the HTTP library calls a connection that could not be made; the address stands before."""
_TOKEN = re.compile(r"[!-~]+")
_UNREADABLE = (
    requests.exceptions.RequestException,
    PrometheusApiClientException,
    LookupError,
    TypeError,
    RecursionError,
)
SecretReader = Callable[[str], Mapping[str, str] | None]
"""Name of a secret of the job's namespace -> its data in base64, None when there is none."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """Where a Prometheus is and how to log in: by token, by name and password, by certificate, or not at all.

    `client_pem` is the certificate to show and its key; `timeout_s` is for a whole query.
    """

    url: str
    token: str | None = dataclasses.field(default=None, repr=False)
    login: tuple[str, str] | None = dataclasses.field(default=None, repr=False)
    ca_pem: str | None = dataclasses.field(default=None, repr=False)
    client_pem: tuple[str, str] | None = dataclasses.field(default=None, repr=False)
    verify: bool = True
    headers: tuple[tuple[str, str], ...] = ()
    timeout_s: float = 20.0


def settings_of(spec: Prometheus, read_secret: SecretReader) -> Settings:
    """What the spec says, secrets included; raises Unavailable (PrometheusDenied, PrometheusTls) when one lacks."""
    token, login = _login(spec.auth, read_secret)
    ca, client = spec.tls.ca_secret_ref, spec.tls.client_secret_ref
    shown = None if client is None else _of_tls(client.name, read_secret, "tls.crt", "tls.key")
    return Settings(
        url=spec.url.rstrip("/"),
        token=token,
        login=login,
        ca_pem=None if ca is None else _of_tls(ca.name, read_secret, "ca.crt")[0],
        client_pem=None if shown is None else (shown[0], shown[1]),
        verify=not spec.tls.insecure_skip_verify,
        headers=tuple(sorted(spec.headers.items())),
        timeout_s=spec.timeout_s,
    )


def _login(auth: Auth | None, read_secret: SecretReader) -> tuple[str | None, tuple[str, str] | None]:
    if auth is None:
        return None, None
    name, denied = auth.secret_ref.name, KubeReason.PROMETHEUS_DENIED
    data = _data(name, read_secret, denied)
    if "token" in data:
        (token,) = _texts(name, data, denied, "token")
        return _token(name, token.strip()), None
    if "username" in data and "password" in data:
        username, password = _texts(name, data, denied, "username", "password")
        return None, (username, password)
    raise Unavailable(
        f"Secret {name} has the keys {', '.join(sorted(data)) or '(none)'}; token, or username and password, is needed",
        code=denied,
    )


def _token(name: str, token: str) -> str:
    """What a header can hold: of any other the HTTP library's error would quote the log-in."""
    if not _TOKEN.fullmatch(token):
        what = "token is empty, or has spaces, line breaks or letters beyond ASCII; one word is needed"
        raise Unavailable(f"Secret {name}: {what}.", code=KubeReason.PROMETHEUS_DENIED)
    return token


def _of_tls(name: str, read_secret: SecretReader, *needed: str) -> tuple[str, ...]:
    return _texts(name, _data(name, read_secret, KubeReason.PROMETHEUS_TLS), KubeReason.PROMETHEUS_TLS, *needed)


def _data(name: str, read_secret: SecretReader, code: KubeReason) -> Mapping[str, str]:
    data = read_secret(name)
    if data is None:
        raise Unavailable(f"Secret {name}, which spec.metrics.prometheus names, is not there.", code=code)
    return data


def _texts(name: str, data: Mapping[str, str], code: KubeReason, *needed: str) -> tuple[str, ...]:
    """What these keys hold; of others, such as a keystore beside a certificate, nothing is asked."""
    lacking = [key for key in needed if key not in data]
    if lacking:
        raise Unavailable(f"Secret {name} has no key {' and no key '.join(lacking)}.", code=code)
    try:
        return tuple(base64.b64decode(data[key], validate=True).decode() for key in needed)
    except (binascii.Error, UnicodeDecodeError) as error:
        what = f"Secret {name} holds something that is no text in {' or '.join(needed)}: {error}."
        raise Unavailable(what, code=code) from error


class Connection:
    """Queries to one Prometheus; not for several threads at once.

    Proxies, netrc and CA bundles of the environment are not used: what the StreamJob says is all that counts. A large
    answer is read within `turn`, which may raise Unavailable, and any is taken apart within `apart`, which is not held
    while anybody else is waited for. It has both until `settle`, or until the next question: what is made of it takes
    more memory than its bytes.
    """

    def __init__(
        self,
        settings: Settings,
        *,
        limits: ReadingLimits | None = None,
        turn: Callable[[], AbstractContextManager[None]] = nullcontext,
        apart: AbstractContextManager[object] | None = None,
    ) -> None:
        self.settings = settings
        self._timeout_s = settings.timeout_s
        self._whole, self._begun, self._waited = Whole(settings.timeout_s), False, False
        self.limits = ReadingLimits() if limits is None else limits
        self._turn, self._in_turn = turn, ExitStack()
        self._apart = nullcontext() if apart is None else apart
        session = requests.Session()
        session.trust_env = False
        session.verify = settings.verify
        session.hooks["response"].append(self._take)
        headers = {"Accept-Encoding": PLAIN, **dict(settings.headers)}
        if settings.token is not None:
            headers["Authorization"] = f"Bearer {settings.token}"
        # Once more where nothing was answered or "later" was; never a query that took too long.
        retry = Patience(
            total=1, read=False, other=False, backoff_factor=0.2, status_forcelist=[429, 503], raise_on_status=False
        )
        # As bytes, because requests would write text in Latin-1, and Prometheus reads UTF-8.
        login = None if settings.login is None else tuple(one.encode() for one in settings.login)
        try:
            self._api = PrometheusConnect(
                settings.url, headers=headers, auth=login, retry=retry, session=session, timeout=self._timeout_s
            )
        except ValueError as error:
            raise self._trouble(f"cannot be asked, its address is none: {error}") from error
        session.mount(settings.url, self._adapter(retry))

    def _adapter(self, retry: Patience) -> WholeAdapter:
        wanted = self.settings
        if wanted.ca_pem is None and wanted.client_pem is None:
            return WholeAdapter(self._whole, retry)
        context = tls_context(wanted.url, wanted.ca_pem, wanted.client_pem, verify=wanted.verify)
        return TlsAdapter(self._whole, retry, context)

    def close(self) -> None:
        """Let its sockets go; a further question makes new ones."""
        self.settle()
        self._api.close()

    def settle(self) -> None:
        """What the newest answer held is not needed any more: if it was large another one may be read."""
        self._in_turn.close()

    def query(self, expression: str, at_s: float | None = None) -> list[dict[str, Any]]:
        """The result of a query at a time of Prometheus's clock, now by default; raises Unavailable with a code."""
        params = {"timeout": f"{self._timeout_s:g}s", "partial_response": "false"}  # the latter for Thanos
        if at_s is not None:
            params["time"] = f"{at_s:.3f}"
        wanted = Samples.OF_TIMES if expression.endswith("]") else Samples.OF_ONE
        return self._asked(lambda: self._api.custom_query(expression, params=params), wanted)

    def query_range(self, expression: str, start_s: float, end_s: float, step_s: float) -> list[dict[str, Any]]:
        """The result of a query at each step from start to end, Prometheus's clock; raises Unavailable with a code."""
        start, end = (datetime.datetime.fromtimestamp(at_s, datetime.UTC) for at_s in (start_s, end_s))
        params = {"timeout": f"{self._timeout_s:g}s"}
        step = f"{step_s:.3f}"
        return self._asked(
            lambda: self._api.custom_query_range(expression, start, end, step, params=params), Samples.OF_TIMES
        )

    def _asked(self, ask: Callable[[], Any], wanted: Samples) -> list[dict[str, Any]]:
        self.settle()
        self._begun = self._waited = False
        with self._whole.limited() as overdue:
            try:
                result = self._answered(ask)
            except Unavailable as error:
                if overdue.is_set():
                    raise self._late() from error
                raise
        if overdue.is_set():  # what was cut off looks like an end
            raise self._late()
        if not are_series(result, wanted):
            raise self._trouble(f"answered with something that is no list of series with {wanted.value}")
        return result

    def _answered(self, ask: Callable[[], Any]) -> Any:
        try:
            return ask()
        except (requests.exceptions.InvalidHeader, UnicodeEncodeError) as error:
            # Their own words quote what was to be sent.
            raise self._trouble("cannot be asked: a header holds what none may") from error
        except requests.exceptions.SSLError as error:
            raise self._trouble(f"cannot be trusted: {_root(error)}", KubeReason.PROMETHEUS_TLS) from error
        except requests.exceptions.Timeout as error:
            raise self._late() from error
        except requests.exceptions.ConnectionError as error:
            if any(isinstance(one, ReadTimeoutError) for one in error.args):
                raise self._late() from error
            raise self._trouble(f"does not answer: {_root(error)}") from error
        except _UNREADABLE as error:
            raise self._trouble(f"answered in a way that cannot be read: {_root(error)}") from error
        except LocationValueError as error:
            raise self._trouble(f"cannot be asked, its address is none: {error}") from error

    def _late(self) -> Unavailable:
        if self._waited:
            within_s = min(self._timeout_s, LONGEST_TURN_S)
            return self._trouble(f"did not send the rest of a large answer within {within_s:g} s of its turn")
        what = "did not send its whole answer" if self._begun else "did not answer"
        return self._trouble(f"{what} within {self._timeout_s:g} s")

    def _take(self, response: requests.Response, **_: object) -> requests.Response:
        """Read an answer within the limits of size and time; raises Unavailable when it is none of Prometheus's."""
        self._begun = True
        if response.is_redirect:  # to anywhere in the operator's network
            raise self._trouble("redirects; what it redirects to may be spec.metrics.prometheus.url itself")
        kind, code = response.headers.get("Content-Type", "").split(";")[0], response.status_code
        body = self._body(response)
        self._check_parts(body)
        if code in (requests.codes.unauthorized, requests.codes.forbidden):
            raise self._trouble(f"refuses the log-in ({code})", KubeReason.PROMETHEUS_DENIED)
        if kind != "application/json":
            hint = "is spec.metrics.prometheus.url its address, path included?"
            raise self._trouble(f"answered {code} with {kind or 'nothing'} in place of JSON; {hint}")
        if code != requests.codes.ok:
            raise self._trouble(f"answered {code}: {_said(body)}")
        self._in_turn.enter_context(self._apart)
        return Answer.of(response)

    def _check_parts(self, body: bytes) -> None:
        """Small bytes of empty lists, or of short texts, would be gigabytes of them."""
        parts, commas = body.count(b"[") + body.count(b"{"), body.count(b",")
        if parts > self.limits.most_parts:
            raise self._trouble(
                f"sent {parts} lists and objects; {self.limits.most_parts} can be read{self.limits.share_of}"
            )
        if commas > self.limits.most_commas:
            raise self._trouble(f"sent {commas} commas; {self.limits.most_commas} can be read{self.limits.share_of}")

    def _body(self, response: requests.Response) -> bytes:
        parts, size = [], 0
        for part in response.iter_content(2**20):
            parts.append(part)
            size += len(part)
            if size > self.limits.answer_bytes:
                raise self._trouble(f"sent more than {self.limits.answer_bytes} bytes{self.limits.share_of}")
            if size > self.limits.large_bytes and not self._waited:
                self._waited = True
                self._wait()
        response._content = b"".join(parts)  # where requests keeps what it has read
        return response._content

    def _wait(self) -> None:
        """For the turn of a large answer, the head of which is here."""
        self.settle()
        try:
            with self._whole.waiting(LONGEST_TURN_S):
                self._in_turn.enter_context(self._turn())
        except Unavailable as error:
            raise Unavailable(str(error), code=KubeReason.PROMETHEUS_UNAVAILABLE) from error

    def _trouble(self, what: str, code: KubeReason = KubeReason.PROMETHEUS_UNAVAILABLE) -> Unavailable:
        return Unavailable(f"Prometheus at {self.settings.url} {one_line(what).rstrip('.')}.", code=code)


def _root(error: BaseException) -> str:
    """The innermost reason, without the layers of the HTTP libraries around it."""
    while True:
        inner = getattr(error, "reason", None)
        if not isinstance(inner, BaseException):
            inner = next((one for one in error.args if isinstance(one, BaseException)), None)
        if isinstance(error, HTTPException):
            return f"it does not speak HTTP ({type(error).__name__})"  # its text is what was sent
        if inner is None:
            return (_CONNECTION.sub("", str(error)) or type(error).__name__)[:300]
        error = inner


def _said(body: bytes) -> str:
    """A Prometheus's own words. Those of anything else are not repeated: whoever names an address could read it so."""
    with contextlib.suppress(ValueError, LookupError, TypeError, RecursionError):
        document = json.loads(body)
        if document["status"] == "error" and document["errorType"] in _ERROR_TYPES:
            return str(document["error"])[:300]
    return "with an error that is not in the form of Prometheus's"
