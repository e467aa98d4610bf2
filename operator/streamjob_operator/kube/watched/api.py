"""The API server, with what the watches have told in front of it: looks cost no request, writes go to the server.

What is kept may be old by a moment. Nothing is lost by that: whoever writes states the version he has seen, and after a
conflict the server itself is asked. That something is absent is always the server's own word, but for lists of what is
watched as a whole.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from kubernetes.client import Configuration

from streamjob_operator.kube.api.client import Called, KubeApi, Object
from streamjob_operator.kube.api.kinds import PODS, Kind
from streamjob_operator.kube.api.refusals import Conflict, NotFound
from streamjob_operator.kube.driver.naming import SPARK_ROLE
from streamjob_operator.kube.watched.store import Store


class WatchedApi(KubeApi):
    """See KubeApi; `stores` are kept up by whoever watches."""

    def __init__(self, settings: Configuration, stores: Mapping[Kind, Store], *, called: Called | None = None) -> None:
        super().__init__(settings, called=called)
        self._stores = stores

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        """The object as the watches know it, else as the API server has it."""
        store = self._stores.get(kind)
        if store is None or namespace is None:
            return super().get(kind, name, namespace)
        return store.get(namespace, name) or self.fresh(kind, name, namespace)

    def fresh(self, kind: Kind, name: str, namespace: str) -> Object | None:
        """The object as the API server has it now, or None; known from then on."""
        found = super().get(kind, name, namespace)
        if found is not None and kind in self._stores:
            self._stores[kind].put(found)
        return found

    def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> list[Object]:
        """From the watches when they tell of all that fit the selector, else from the API server."""
        store, wanted = self._stores.get(kind), _equalities(labels)
        told = None
        if store is not None and fields is None and wanted is not None and (kind != PODS or SPARK_ROLE in wanted):
            told = store.fitting(namespace, wanted)
        return super().list(kind, namespace, labels=labels, fields=fields) if told is None else told

    def create(self, kind: Kind, document: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        """See KubeApi; what was made is known at once."""
        answer = super().create(kind, document, dry_run=dry_run)
        if not dry_run and kind in self._stores:
            self._stores[kind].put(answer)
        return answer

    def apply(
        self, kind: Kind, document: Mapping[str, Any], *, subresource: str | None = None, force: bool = False
    ) -> Object:
        """See KubeApi; what was written is known at once."""
        where = document["metadata"]["namespace"], document["metadata"]["name"]
        return self._written(
            kind, *where, lambda: super(WatchedApi, self).apply(kind, document, subresource=subresource, force=force)
        )

    def merge_patch(
        self, kind: Kind, name: str, namespace: str | None, patch: Mapping[str, Any], *, subresource: str | None = None
    ) -> Object:
        """See KubeApi; what was written is known at once."""
        return self._written(
            kind,
            namespace or "",
            name,
            lambda: super(WatchedApi, self).merge_patch(kind, name, namespace, patch, subresource=subresource),
        )

    def delete(
        self, kind: Kind, name: str, namespace: str | None = None, *, uid: str | None = None, grace_s: int | None = None
    ) -> bool:
        """See KubeApi; how it goes on is for the server to say."""
        try:
            return super().delete(kind, name, namespace, uid=uid, grace_s=grace_s)
        finally:
            if kind in self._stores:
                self._stores[kind].doubt(namespace or "", name)

    def _written(self, kind: Kind, namespace: str, name: str, write: Callable[[], Object]) -> Object:
        store = self._stores.get(kind)
        if store is None:
            return write()
        try:
            answer = write()
        except (Conflict, NotFound):
            store.doubt(namespace, name)
            raise
        store.put(answer)
        return answer


def _equalities(selector: str | None) -> dict[str, str] | None:
    """A selector of equalities alone as labels and values; None when it says more."""
    parts = [one for one in (selector or "").split(",") if one]
    if any("!" in one or one.count("=") != 1 for one in parts):
        return None
    return {name: value for name, _, value in (one.partition("=") for one in parts)}
