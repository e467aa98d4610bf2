"""The API server as a dictionary: resource versions, conflicts, and an accident before or after any call."""

from __future__ import annotations

import copy
import itertools
from collections.abc import Callable, Mapping
from typing import Any

from streamjob_operator.kube.api.kinds import Kind
from streamjob_operator.kube.api.refusals import Conflict, NotFound

Object = dict[str, Any]


class FakeApi:
    """As much of KubeApi as the operator's parts use. `before[verb]` is called with the object's name first."""

    def __init__(self) -> None:
        self.objects: dict[tuple[str, str, str], Object] = {}
        self.before: dict[str, Callable[[str], None]] = {}
        self.calls: list[tuple[str, str]] = []
        self._applied: dict[tuple[str, str, str], set[str]] = {}
        self._others: dict[tuple[str, str, str], Object] = {}  # fields of statuses that another manager owns
        self._versions = itertools.count(1)
        self._lives: dict[tuple[str, str, str], int] = {}

    def get(self, kind: Kind, name: str, namespace: str | None = None) -> Object | None:
        self._called("get", kind, name)
        found = self.objects.get((kind.plural, namespace or "", name))
        return copy.deepcopy(found)

    def list(
        self, kind: Kind, namespace: str | None = None, *, labels: str | None = None, fields: str | None = None
    ) -> list[Object]:
        """`labels` are equalities; fields are none of ours."""
        assert fields is None
        self._called("list", kind, "")
        wanted = dict(one.split("=") for one in (labels or "").split(",") if one)
        return [
            copy.deepcopy(one)
            for (plural, where, _), one in self.objects.items()
            if plural == kind.plural
            and namespace in (None, where)
            and wanted.items() <= (one["metadata"].get("labels") or {}).items()
        ]

    def create(self, kind: Kind, document: Mapping[str, Any], *, dry_run: bool = False) -> Object:
        key = self._key(kind, document)
        self._called("try" if dry_run else "create", kind, key[2])
        if dry_run:
            return dict(document)
        if key in self.objects:
            raise Conflict(409, "AlreadyExists", f"{key} is there")
        return self._keep(key, {"kind": kind.kind, "apiVersion": kind.api_version, **document})

    def apply(
        self, kind: Kind, document: Mapping[str, Any], *, subresource: str | None = None, force: bool = False
    ) -> Object:
        key = self._key(kind, document)
        self._called("apply", kind, key[2])
        there = self.objects.get(key)
        for name in ("resourceVersion", "uid"):
            wanted = document["metadata"].get(name)
            if wanted is not None and (there is None or there["metadata"].get(name) != wanted):
                raise Conflict(409, "Conflict", f"{name} of {key} is another one")
        if there is None and subresource is not None:
            raise NotFound(404, "NotFound", f"{key} is not there")
        changed = {**(there or {"kind": kind.kind, "apiVersion": kind.api_version}), **document}
        changed["metadata"] = {**(there or {}).get("metadata", {}), **document["metadata"]}
        if subresource == "status":
            changed["status"] = _merged(self._others.get(key, {}), document["status"])
        if subresource is None:
            self._take_back(key, changed["metadata"], set(document["metadata"]))
        return self._keep(key, changed)

    def _take_back(self, key: tuple[str, str, str], metadata: Object, given: set[str]) -> None:
        """Server-side apply: what was applied earlier and is not given any more goes."""
        for name in self._applied.get(key, set()) - given:
            metadata.pop(name, None)
        self._applied[key] = given

    def delete(
        self, kind: Kind, name: str, namespace: str | None = None, *, uid: str | None = None, grace_s: int | None = None
    ) -> bool:
        self._called("delete", kind, name)
        key = (kind.plural, namespace or "", name)
        there = self.objects.get(key)
        if there is not None and uid not in (None, there["metadata"]["uid"]):
            raise Conflict(409, "Conflict", f"the uid of {key} is another one")
        self._applied.pop(key, None)
        self._others.pop(key, None)
        return self.objects.pop(key, None) is not None

    def merge_patch(
        self, kind: Kind, name: str, namespace: str | None, patch: Mapping[str, Any], *, subresource: str | None = None
    ) -> Object:
        self._called("patch", kind, name)
        key = (kind.plural, namespace or "", name)
        there = self.objects.get(key)
        if there is None:
            raise NotFound(404, "NotFound", f"{key} is not there")
        wanted = (patch.get("metadata") or {}).get("resourceVersion")
        if wanted is not None and wanted != there["metadata"]["resourceVersion"]:
            raise Conflict(409, "Conflict", f"{key} has changed")
        if patch.get("status", there) is None:
            self._others.pop(key, None)
        return self._keep(key, _merged(there, patch))

    def put(self, kind: Kind, document: Mapping[str, Any]) -> Object:
        """What somebody else did."""
        return self._keep(self._key(kind, document), dict(document))

    def restore(self, kind: Kind, document: Mapping[str, Any]) -> Object:
        """As a backup's tool does it: the fields of the status are its own from then on, and apply leaves them."""
        self._others[self._key(kind, document)] = copy.deepcopy(document["status"])
        return self.put(kind, document)

    def _called(self, verb: str, kind: Kind, name: str) -> None:
        self.calls.append((verb, kind.plural))
        if verb in self.before:
            self.before[verb](name)

    @staticmethod
    def _key(kind: Kind, document: Mapping[str, Any]) -> tuple[str, str, str]:
        return kind.plural, document["metadata"].get("namespace", ""), document["metadata"]["name"]

    def _keep(self, key: tuple[str, str, str], document: Object) -> Object:
        version = next(self._versions)
        metadata = {"uid": self._uid(key), **document["metadata"], "resourceVersion": str(version)}
        self.objects[key] = {**copy.deepcopy(document), "metadata": metadata}
        kept = copy.deepcopy(self.objects[key])
        if metadata.get("deletionTimestamp") and not metadata.get("finalizers"):
            del self.objects[key]
        return kept

    def _uid(self, key: tuple[str, str, str]) -> str:
        """Another one in each life of an object of that name."""
        if key not in self.objects:
            self._lives[key] = self._lives.get(key, 0) + 1
        life = self._lives.get(key, 1)
        return f"uid-{key[0]}-{key[2]}" + (f"-{life}" if life > 1 else "")


def _merged(there: Object, patch: Mapping[str, Any]) -> Object:
    merged = dict(there)
    for name, value in patch.items():
        if value is None:
            merged.pop(name, None)
        elif isinstance(value, Mapping) and isinstance(merged.get(name), Mapping):
            merged[name] = _merged(merged[name], value)
        else:
            merged[name] = value
    return merged


def once(action: Callable[[], object]) -> Callable[[str], None]:
    """An accident that happens at the first call only."""
    left = [action]

    def happen(_: str) -> None:
        if left:
            left.pop()()

    return happen
