"""Three requests to the API server about one PartitionMap: read it, watch it, write its status."""

from __future__ import annotations

import contextlib
import http.client
import json
import urllib.parse
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from streamjob_agent.kube.access import Access
from streamjob_agent.kube.connection import Connection, Request

API_VERSION, KIND, PLURAL = "streamjob.dev/v1alpha1", "PartitionMap", "partitionmaps"
FIELD_MANAGER = "streamjob-agent"
GONE = 410
WATCH_S = 60.0  # one watch; the next goes on where it ended
_SILENCE_S = WATCH_S + 15.0
_REQUEST_S = 10.0
_MOST_BYTES = 8 * 2**20  # above etcd's limit for one object
Event = tuple[str, Mapping[str, Any]]


class ApiFailure(Exception):
    """The API server did not do it. `code` is None when it did not answer at all."""

    def __init__(self, code: int | None, sentence: str, retry_after_s: float | None = None) -> None:
        super().__init__(sentence)
        self.code = code
        self.retry_after_s = retry_after_s


class MapApi(Protocol):
    """One PartitionMap. Every method raises ApiFailure, and whatever finding the API server raises."""

    def read(self) -> Mapping[str, Any]:
        """The object as it is now."""

    def watch(self, resource_version: str) -> Iterator[Event]:
        """Changes after that version: (ADDED, MODIFIED, DELETED or BOOKMARK, object), until the server ends it."""

    def write_status(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        """Replace what we own of the status; gives the object as it is then."""


class HttpMapApi:
    """MapApi over HTTPS, by two connections that are kept: one is the watch's, which has it for a minute at a time.

    `access` is asked once, at the first request, and again until it gives an answer.
    """

    def __init__(self, access: Callable[[], Access], namespace: str, name: str) -> None:
        self._find = access
        self._access: Access | None = None
        self._folder = f"/apis/{API_VERSION}/namespaces/{urllib.parse.quote(namespace, safe='')}/{PLURAL}"
        self._identity = {"name": name, "namespace": namespace}
        self._path = f"{self._folder}/{urllib.parse.quote(name, safe='')}"
        self._requests, self._watches = Connection(_REQUEST_S), Connection(_SILENCE_S)

    def read(self) -> Mapping[str, Any]:
        """See MapApi."""
        with self._ask(self._requests, "GET", self._path) as answer:
            return _parsed(answer.read(_MOST_BYTES))

    def watch(self, resource_version: str) -> Iterator[Event]:
        """See MapApi."""
        asked = {
            "watch": "true",
            "fieldSelector": f"metadata.name={self._identity['name']}",
            "resourceVersion": resource_version,
            "allowWatchBookmarks": "true",
            "timeoutSeconds": f"{WATCH_S:.0f}",
        }
        with self._ask(self._watches, "GET", f"{self._folder}?{urllib.parse.urlencode(asked)}") as answer:
            while line := _line(answer):
                yield _event(_parsed(line))

    def write_status(self, status: Mapping[str, Any]) -> Mapping[str, Any]:
        """See MapApi. Server-side apply: fields that are not given any more are taken away."""
        body = {"apiVersion": API_VERSION, "kind": KIND, "metadata": self._identity, "status": status}
        path = f"{self._path}/status?fieldManager={FIELD_MANAGER}&force=true"
        with self._ask(self._requests, "PATCH", path, json.dumps(body).encode()) as answer:
            return _parsed(answer.read(_MOST_BYTES))

    @contextlib.contextmanager
    def _ask(
        self, connection: Connection, method: str, path: str, body: bytes | None = None
    ) -> Iterator[http.client.HTTPResponse]:
        access = self._access = self._access or self._find()
        headers = {"Accept": "application/json", "User-Agent": FIELD_MANAGER}
        authorization = access.authorization()
        if authorization is not None:
            headers["Authorization"] = authorization
        if body is not None:
            headers["Content-Type"] = "application/apply-patch+yaml"
        request = Request(method=method, path=path, headers=headers, body=body)
        try:
            with connection.ask(access.server, access.trust, request) as answer:
                if not 200 <= answer.status < 300:
                    raise _failure(answer)
                yield answer
        except (OSError, http.client.HTTPException) as error:
            raise ApiFailure(None, f"{method} {path}: no answer: {error}") from error


def _line(answer: http.client.HTTPResponse) -> bytes:
    """The next line; nothing at the end, also when the connection is cut or silent for too long."""
    try:
        return answer.readline(_MOST_BYTES)
    except (OSError, http.client.HTTPException) as error:
        raise ApiFailure(None, f"the watch was cut: {type(error).__name__}: {error}") from error


def _parsed(text: bytes) -> Mapping[str, Any]:
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ApiFailure(None, f"the answer is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise ApiFailure(None, f"the answer is {type(found).__name__}, an object is needed")
    return found


def _event(event: Mapping[str, Any]) -> Event:
    kind, content = str(event.get("type")), event.get("object") or {}
    if kind == "ERROR":
        raise ApiFailure(content.get("code"), f"the watch ended: {content.get('message') or content}")
    return kind, content


def _failure(answer: http.client.HTTPResponse) -> ApiFailure:
    text = answer.read(10_000).decode("utf-8", errors="replace")
    try:
        sentence = str(json.loads(text)["message"])
    except (ValueError, KeyError, TypeError):
        sentence = text.strip() or answer.reason
    wait = answer.headers.get("Retry-After", "")
    wait_s = float(wait) if wait.isdecimal() else None
    return ApiFailure(answer.status, f"{answer.status}: {sentence[:500]}", wait_s)
