"""The API server as a few calls. What passes by is tried again; what does not is an exception with a sentence."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from kubernetes.client import ApiClient, Configuration
from kubernetes.client.exceptions import ApiException
from kubernetes.dynamic import DynamicClient
from urllib3.exceptions import HTTPError

from streamjob_operator.kube.api.access import configuration
from streamjob_operator.kube.api.kinds import Kind
from streamjob_operator.kube.api.listing import AS_METADATA, Seen, read_listing
from streamjob_operator.kube.api.refusals import NotFound, from_status, refusal
from streamjob_operator.kube.api.retry import Retry, passing, sentence
from streamjob_operator.kube.names import FIELD_MANAGER
from streamjob_operator.ports import Unavailable

Object = dict[str, Any]
Called = Callable[[str, str, int], None]
T = TypeVar("T")
V = TypeVar("V")
TIMEOUT_S = 15.0
PAGE = 500  # objects of one page of a list
APPLY, MERGE = "application/apply-patch+yaml", "application/merge-patch+json"
NO_ANSWER = 0


class KubeApi:
    """Thread-safe. Raises Refused (or one of its kinds) and ports.Unavailable, nothing else."""

    def __init__(
        self,
        settings: Configuration,
        *,
        retry: Retry | None = None,
        called: Called | None = None,
        manager: str = FIELD_MANAGER,
        timeout_s: float = TIMEOUT_S,
    ) -> None:
        """`called(verb, plural, status)` hears of every request, 0 is no answer; `manager` owns what is written.

        A request that is not answered within `timeout_s` has failed.
        """
        self._manager = manager
        self._timeout_s = timeout_s
        settings.retries = False  # urllib3's own, which know neither our waits nor their bounds
        # Paths are known, so there is nothing to discover.
        self._client = DynamicClient(ApiClient(settings), discoverer=lambda *_: None)
        self._retry = retry or Retry()
        self._called = called or (lambda *_: None)

    @classmethod
    def from_kubeconfig(
        cls,
        path: str | Path | None = None,
        *,
        context: str | None = None,
        retry: Retry | None = None,
        called: Called | None = None,
        manager: str = FIELD_MANAGER,
    ) -> KubeApi:
        """See :func:`access.configuration`; raises Unavailable."""
        return cls(configuration(path, context=context), retry=retry, called=called, manager=manager)

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """The object, or None."""
        with contextlib.suppress(NotFound):
            return self._ask("get", kind, kind.path(namespace, name))
        return None

    def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> list[Object]:
        """All objects that fit both selectors; none when the kind is unknown to the server."""
        with contextlib.suppress(NotFound):
            return [one for page, _ in self.pages(kind, namespace, labels=labels, fields=fields) for one in page]
        return []

    def pages(
        self, kind: Kind, namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> Iterator[tuple[Iterable[Object], str]]:
        """The same, page by page, each with the resource version of the whole; raises NotFound for unknown kinds."""
        return self._pages(_whole_page, kind, namespace, label_selector=labels, field_selector=fields)

    def seen(
        self, kind: Kind, namespace: str | None = None, *, labels: str | None = None
    ) -> Iterator[tuple[Sequence[Seen], int]]:
        """What there is, without the documents, page by page, each with the resource version of the whole.

        Raises NotFound for unknown kinds.
        """
        headers = {"Accept": AS_METADATA}
        return self._pages(read_listing, kind, namespace, label_selector=labels, header_params=headers)

    def resources(self, kind: Kind) -> frozenset[str]:
        """Plurals and PLURAL/SUBRESOURCE that the server knows of the kind's group and version; empty without it."""
        with contextlib.suppress(NotFound):
            found = self._ask("get", kind, kind.root, verb="discover")
            return frozenset(one["name"] for one in found.get("resources", []))
        return frozenset()

    def create(self, kind: Kind, document: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """Make it, or say what would come of that; raises Conflict when the name is taken."""
        body, namespace = _whole(kind, document), document["metadata"].get("namespace")
        options = {"body": body, "field_manager": self._manager, "dry_run": "All" if dry_run else None}
        return self._ask("post", kind, kind.path(namespace), verb="create", **options)

    def apply(
        self, kind: Kind, document: Mapping[str, Any], *, subresource: str | None = None, force: bool = False
    ) -> Object:
        """Server-side apply as our field manager: fields of ours that the document lacks go away, others' stay.

        Raises Conflict when somebody else owns a field of the document, unless `force`; and when the document
        states a resourceVersion that is not the newest one.
        """
        name, namespace = _address(document)
        path = kind.path(namespace, name, subresource)
        body = _whole(kind, document)
        options = {"field_manager": self._manager, "force_conflicts": force}
        return self._ask("patch", kind, path, verb="apply", body=body, content_type=APPLY, **options)

    def merge_patch(
        self, kind: Kind, name: str, namespace: str | None, patch: Mapping[str, Any], *, subresource: str | None = None
    ) -> Object:
        """JSON merge patch: null takes a field away."""
        path = kind.path(namespace, name, subresource)
        return self._ask("patch", kind, path, body=dict(patch), content_type=MERGE, field_manager=self._manager)

    def delete(
        self, kind: Kind, name: str, namespace: str | None = None, *, uid: str | None = None, grace_s: int | None = None
    ) -> bool:
        """Delete it, and in the background what it owns; whether it was there. `uid` spares one of the same name."""
        body: Object = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        if uid is not None:
            body["preconditions"] = {"uid": uid}
        if grace_s is not None:
            body["gracePeriodSeconds"] = grace_s
        with contextlib.suppress(NotFound):
            self._ask("delete", kind, kind.path(namespace, name), body=body)
            return True
        return False

    def watch(
        self, kind: Kind, namespace: str | None, resource_version: str, *, labels: str | None = None, seconds: int = 60
    ) -> Iterator[tuple[str, Object]]:
        """Changes after `resource_version`: (ADDED, MODIFIED, DELETED or BOOKMARK, object), until the server ends it.

        One connection for at most `seconds`: watch again from the newest resource version afterwards, after Gone list
        again. Raises Refused, Unavailable.
        """
        options = {"watch": True, "resource_version": resource_version, "label_selector": labels}
        options |= {
            "timeout_seconds": seconds,
            "allow_watch_bookmarks": True,
            "_request_timeout": (self._timeout_s, seconds),
        }
        try:
            answer = self._open("get", kind, kind.path(namespace), verb="watch", **options)
            with contextlib.closing(answer):
                yield from map(_change, _lines(answer))
        except ApiException as error:
            if not passing(error):
                raise refusal(error) from error
            raise Unavailable(f"{kind.plural} cannot be watched: {sentence(error)}.") from error
        except (HTTPError, OSError, ValueError) as error:
            raise Unavailable(f"The watch of {kind.plural} was cut off: {sentence(error)}.") from error

    def _pages(
        self, read: Callable[[bytes], tuple[T, V, str | None]], kind: Kind, namespace: str | None, **options: Any
    ) -> Iterator[tuple[T, V]]:
        """Of each page its objects and its version, until none is told to follow."""
        token: str | None = None
        while True:
            read_on = {"limit": PAGE, "_continue": token, **options}
            found, version, token = self._read(read, "get", kind, kind.path(namespace), verb="list", **read_on)
            yield found, version
            if not token:
                return

    def _ask(self, method: str, kind: Kind, path: str, *, verb: str | None = None, **options: Any) -> Object:
        return self._read(_object, method, kind, path, verb=verb or method, **options)

    def _read(self, read: Callable[[bytes], T], method: str, kind: Kind, path: str, *, verb: str, **options: Any) -> T:
        """What `read` makes of the answer; a ValueError of it is an answer that is not whole."""

        def once() -> T:
            answer = self._open(method, kind, path, verb=verb, **options)
            try:
                return read(answer.data)
            except ValueError as error:
                raise HTTPError(f"the answer is not JSON: {error}") from error

        try:
            return self._retry.call(f"{verb} {path}", once)
        except ApiException as error:
            raise refusal(error) from error

    def _open(self, method: str, kind: Kind, path: str, *, verb: str, **options: Any) -> Any:
        status = NO_ANSWER
        options = {"_request_timeout": self._timeout_s, "header_params": {}, **options}
        try:
            answer = self._client.request(method, path, query_params=[], serialize=False, **options)
            status = answer.status
            return answer
        except ApiException as error:
            status = error.status
            raise
        finally:
            self._called(verb, kind.plural, status)


def _object(answer: bytes) -> Object:
    return dict(json.loads(answer))


def _whole_page(answer: bytes) -> tuple[list[Object], str, str | None]:
    page = _object(answer)
    return page.get("items", []), page["metadata"]["resourceVersion"], page["metadata"].get("continue")


def _whole(kind: Kind, document: Mapping[str, Any]) -> Object:
    return {"apiVersion": kind.api_version, "kind": kind.kind, **document}


def _address(document: Mapping[str, Any]) -> tuple[str, str | None]:
    metadata = document["metadata"]
    return metadata["name"], metadata.get("namespace")


def _lines(answer: Any) -> Iterator[bytes]:
    rest = b""
    for chunk in answer.stream(amt=None, decode_content=False):
        *lines, rest = (rest + chunk).split(b"\n")
        yield from (line for line in lines if line)


def _change(line: bytes) -> tuple[str, Object]:
    change = json.loads(line)
    if change["type"] == "ERROR":
        raise from_status(change["object"])
    return change["type"], change["object"]
