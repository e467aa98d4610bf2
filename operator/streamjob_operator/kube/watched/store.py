"""The newest known version of each object of one kind; for several threads.

Objects are kept as JSON: a fifth of the memory of dictionaries, and what a reader does to his copy stays his.
"""

from __future__ import annotations

import dataclasses
import json
import threading
from collections import Counter, defaultdict
from collections.abc import Collection, Mapping
from typing import Any

from pydantic_core import to_json

from streamjob_operator.kube.api.client import Object
from streamjob_operator.kube.api.kinds import Kind
from streamjob_operator.kube.watched.trimmed import trimmed, watched
from streamjob_operator.tally import one_less

Key = tuple[str, str]
Word = tuple[str, str, str]
"""Namespace, label, its value."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    version: int
    text: bytes
    words: frozenset[Word]
    doubted: bool = False


class Store:
    """Takes versions in any order, from watches, lists and answers to our own writes; an older one changes nothing.

    `labels` are those by which objects are looked for often; what has the label `findable` (name, value) is looked for
    by any of its labels. Resource versions of one kind are numbers that grow, as etcd gives them.
    """

    def __init__(self, kind: Kind, labels: Collection[str] = (), findable: tuple[str, str] | None = None) -> None:
        self.kind = kind
        self._labels = frozenset(labels)
        self._findable = findable
        self._lock = threading.Lock()
        self._kept: dict[Key, _Kept] = {}
        self._least: dict[Key, int] = {}  # versions below these are of before a deletion, or known to be old
        self._places: dict[Word, set[Key]] = defaultdict(set)
        self._spaces: Counter[str] = Counter()  # how many objects each namespace has; none is not there

    def __len__(self) -> int:
        """Objects that are known."""
        return len(self._kept)

    def namespaces(self) -> int:
        """How many have objects."""
        return len(self._spaces)

    def keys(self) -> set[Key]:
        """Namespace and name of all objects."""
        with self._lock:
            return set(self._kept)

    def versions(self, namespace: str) -> dict[str, int]:
        """Newest known version of each of a namespace's objects, by name; such as are in doubt are there, too."""
        with self._lock:
            return {name: kept.version for (where, name), kept in self._kept.items() if where == namespace}

    def put(self, document: Mapping[str, Any]) -> None:
        """Somebody has seen this version."""
        key, version = _key(document), int(document["metadata"]["resourceVersion"])
        if not watched(self.kind, document):
            self.drop(*key, version)
            return
        with self._lock:  # a write of ours is answered, and then told by the watch
            if self._old(key, version):
                return
        kept = _Kept(version=version, text=_text(self.kind, document), words=self._words(document))
        with self._lock:
            if self._old(key, version):
                return
            self._take(key)
            self._kept[key] = kept
            self._spaces[key[0]] += 1
            for word in kept.words:
                self._places[word].add(key)

    def lacks(self, namespace: str, name: str, version: int) -> bool:
        """Whether this version would be news."""
        with self._lock:
            return not self._old((namespace, name), version)

    def _old(self, key: Key, version: int) -> bool:
        """Whether this version, or a newer one, is known already; of one version there is one object."""
        there = self._kept.get(key)
        return version <= self._least.get(key, -1) or (there is not None and version <= there.version)

    def drop(self, namespace: str, name: str, version: int) -> None:
        """It is gone, or known to have changed, since this version: what is kept goes unless it is newer."""
        key = (namespace, name)
        with self._lock:
            self._least[key] = max(version, self._least.get(key, -1))
            there = self._kept.get(key)
            if there is not None and there.version <= version:
                self._take(key)

    def doubt(self, namespace: str, name: str) -> None:
        """What is kept is not the newest: the next one who asks for it gets nothing."""
        key = (namespace, name)
        with self._lock:
            there = self._kept.get(key)
            if there is not None:
                self._least[key] = max(there.version, self._least.get(key, -1))
                self._kept[key] = dataclasses.replace(there, doubted=True)

    def relisted(self, present: Collection[Key], version: int, namespace: str | None) -> list[Key]:
        """Drop what a list of this version does not have; those keys. Deletions before it need not be remembered."""
        with self._lock:
            known = [
                key
                for key, kept in self._kept.items()
                if kept.version <= version and namespace in (None, key[0]) and key not in present
            ]
            for key in known:
                self._take(key)
            self._least = {
                key: least for key, least in self._least.items() if least > version or namespace not in (None, key[0])
            }
        return known

    def get(self, namespace: str, name: str) -> Object | None:
        """A copy of it; None when it is not known."""
        kept = self._kept.get((namespace, name))
        return None if kept is None or kept.doubted else json.loads(kept.text)

    def known(self, namespace: str, name: str) -> Object | None:
        """A copy of the newest version that was seen, though it may be in doubt."""
        kept = self._kept.get((namespace, name))
        return None if kept is None else json.loads(kept.text)

    def fitting(self, namespace: str | None, labels: Mapping[str, str]) -> list[Object] | None:
        """Copies of all that have these labels, ordered by name; None where one that may have them is in doubt."""
        with self._lock:
            places = [self._kept[key] for key in sorted(self._candidates(namespace, labels))]
        if any(one.doubted for one in places):
            return None
        found = (json.loads(one.text) for one in places)
        return [one for one in found if labels.items() <= (one["metadata"].get("labels") or {}).items()]

    def _candidates(self, namespace: str | None, labels: Mapping[str, str]) -> Collection[Key]:
        """Of the places of all that is asked for the smallest: of one label many pods may have the same value."""
        if namespace is None or not (known := self._looked_for(labels)):
            return [key for key in self._kept if namespace in (None, key[0])]
        return min((self._places.get((namespace, one, labels[one]), frozenset()) for one in known), key=len)

    def _looked_for(self, labels: Mapping[str, str]) -> Collection[str]:
        """Those of the labels that have places."""
        name, value = self._findable or ("", "")
        return labels if name and labels.get(name) == value else self._labels & labels.keys()

    def _words(self, document: Mapping[str, Any]) -> frozenset[Word]:
        metadata = document["metadata"]
        labels = metadata.get("labels") or {}
        return frozenset((metadata["namespace"], one, labels[one]) for one in self._looked_for(labels))

    def _take(self, key: Key) -> None:
        there = self._kept.pop(key, None)
        if there is None:
            return
        one_less(self._spaces, key[0])
        for word in there.words:
            self._places[word].discard(key)
            if not self._places[word]:
                del self._places[word]


def _key(document: Mapping[str, Any]) -> Key:
    return document["metadata"]["namespace"], document["metadata"]["name"]


def _text(kind: Kind, document: Mapping[str, Any]) -> bytes:
    return to_json(trimmed(kind, document))
